/** A key with its name; null: the service. */
export type Key = { keyId: string; keyName: string } | null;

/** SQL of the key with this id as JSON; null: none. */
export const keyOf = (id: string): string =>
  `(select json_build_object('keyId', k.id, 'keyName', k.name) from api_keys k
     where k.org_id = current_setting('app.org') and k.id = ${id})`;
