"""S3: a bucket that backups are copied to."""
