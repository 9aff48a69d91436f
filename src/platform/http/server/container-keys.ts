import { issueInferenceKey } from '../../../clients/container/inference-key.js';
import { Redactor } from '../../../clients/net/redact.js';
import { readContainerKey } from '../../../access/store/secrets.js';
import type { Tx } from '../../db/db.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { ExpiringMap } from '../../../util/expiring-map.js';

const maxJobs = 1_000;
const cachedMs = 60_000;

/** Hides the keys that a container was given in what it sends to the API. */
export interface ContainerKeys {
  /** A body without the keys of the job and of the rollout, if it names one. */
  hide<Body extends object>(tx: Tx, job: JobRef, rolloutId: string | null, body: Body): Promise<Body>;
}

export function createContainerKeys(secretKey: Buffer): ContainerKeys {
  const known = new ExpiringMap<string, { key: string | null }>(maxJobs, cachedMs);

  async function containerKey(tx: Tx, job: JobRef): Promise<string | null> {
    const cached = known.get(job.jobId);
    if (cached) return cached.key;
    const key = await readContainerKey(tx, secretKey, job);
    known.set(job.jobId, { key });
    return key;
  }

  return {
    async hide<Body extends object>(tx: Tx, { orgId, jobId }: JobRef, rolloutId: string | null, body: Body) {
      const ofRollout = rolloutId && issueInferenceKey(secretKey, { orgId, jobId, rolloutId });
      const redactor = new Redactor([await containerKey(tx, { orgId, jobId }), ofRollout]);
      return redactor.isWithin(body) ? (redactor.value(body) as Body) : body;
    },
  };
}
