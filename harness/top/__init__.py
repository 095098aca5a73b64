"""`truefall top`: a running gateway at a glance."""
