"""What the coding domain asks: generators and importers."""
