-- The users that can sign in. The user of a customer has the id of the customer.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  password_hash text NOT NULL,
  role text NOT NULL CHECK (role IN ('customer', 'staff'))
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));
