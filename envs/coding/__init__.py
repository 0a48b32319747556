"""The coding domain: programs are written, run and judged."""
