"""Questions about financial documents: what is asked, in which type the answer is wanted, and what it is."""
