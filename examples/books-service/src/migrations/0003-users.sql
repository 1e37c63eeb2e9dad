-- [auth] file
-- A user without a hash of `passwords()` cannot sign in.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  password_hash text,
  roles text[] NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));
