"""The calculator domain: small enough to be read as the documentation of what a domain is made of."""
