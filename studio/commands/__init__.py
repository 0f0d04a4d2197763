"""What `python app.py NAME ...` does besides serving: runs, exports and imports, for scripts and cron."""
