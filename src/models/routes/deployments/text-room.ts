import type { Logger } from 'pino';
import { exceededQuota } from '../../../access/store/quota.js';
import type { Db } from '../../../platform/db/db.js';
import { ExpiringMap } from '../../../util/expiring-map.js';

const checkedForMs = 60_000;

/** Whether an organization may store further texts, as of the last minute. Never rejects. */
export function createTextRoom({ db, log }: { db: Pick<Db, 'orgApart'>; log: Logger }) {
  const known = new ExpiringMap<string, Promise<boolean>>(10_000, checkedForMs);
  const look = async (orgId: string): Promise<boolean> => {
    const exceeded = await db.orgApart(orgId, (tx) => exceededQuota(tx, { orgId, keyId: null }, 'stored_bytes', 1));
    if (exceeded) log.warn({ org_id: orgId, limit: exceeded.limit }, 'texts are not kept: stored_bytes is used up');
    return exceeded === null;
  };
  return (orgId: string): Promise<boolean> => {
    const room = known.get(orgId);
    if (room) return room;
    const asked = look(orgId).catch((err: unknown) => {
      log.warn({ err, org_id: orgId }, 'the room for texts is unknown; they are kept');
      return true;
    });
    known.set(orgId, asked);
    return asked;
  };
}
