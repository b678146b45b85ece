//! R binding of kliepnet-core.
