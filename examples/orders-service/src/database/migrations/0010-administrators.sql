ALTER TABLE users DROP CONSTRAINT users_role_check;
ALTER TABLE users ADD CONSTRAINT users_role_check CHECK (role IN ('customer', 'staff', 'administrator'));
-- The owner of a subscription is a user, without the role.
UPDATE concordat.webhook_subscriptions
SET owner = split_part(owner, ':', 2), record = jsonb_set(record::jsonb, '{owner}', to_jsonb(split_part(owner, ':', 2)))::json
WHERE owner LIKE '%:%';
