-- Which RATCHET_SECRET_KEY this database's secrets and hashes of API keys were made with: one row, written by the first
-- process that starts, so that one with another key is told at its start. It names no organization, hence no policy.
create table secret_key_fingerprint (
  only_row boolean primary key default true check (only_row),
  fingerprint text not null,
  set_at timestamptz not null default now()
);
grant select, insert on secret_key_fingerprint to ratchet_app;
