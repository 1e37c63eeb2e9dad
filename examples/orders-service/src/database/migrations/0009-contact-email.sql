-- The email address of a customer is contact data that nobody has verified. If it were unique, a customer could find out which addresses exist, and
-- take one that belongs to another. Users sign in with the address in the table users.
DROP INDEX customers_email_key;
