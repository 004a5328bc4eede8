"""Forms: what the payload of a resume, or a value, must look like."""
