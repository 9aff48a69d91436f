import type { Message } from '../../src/core/prompts/message.js';
import type { Db } from '../../src/platform/db/db.js';
import { finishJob } from '../../src/jobs/store/decisions/record.js';
import { lockJob } from '../../src/jobs/store/events.js';
import { insertJob, newJobId } from '../../src/jobs/store/jobs.js';
import { insertDeployment, setSnapshot } from '../../src/kinds/deployment/store/deployments.js';
import { promote } from '../../src/kinds/deployment/store/names.js';
import { putSnapshot, readContent } from '../../src/kinds/deployment/store/snapshots.js';

const policy = { provider: 'fake', model: 'any', params: {} };

/** Stores a frozen deployment that does not serve its name yet. */
export async function buildStored(
  db: Db,
  orgId: string,
  name: string,
  { keyId = null, reason = null }: { keyId?: string | null; reason?: string | null } = {},
): Promise<{ id: string; version: number }> {
  const jobId = newJobId('deployment');
  const messages: Message[] = [{ role: 'system', content: jobId }];
  const source = { kind: 'messages' as const, messages, policy };
  return db.org(orgId, async (tx) => {
    const spec = { kind: 'deployment' as const, name, source, gate: null, container: null };
    const job = { jobId, orgId, kind: 'deployment' as const, workflowId: `deployment-${jobId}`, spec };
    await insertJob(tx, { ...job, keyId, algorithm: null, correlationId: null });
    const version = await insertDeployment(tx, { orgId, jobId }, { name, reason });
    await setSnapshot(tx, jobId, await putSnapshot(tx, orgId, (await readContent(tx, source))!));
    return { id: jobId, version };
  });
}

class Deleted extends Error {}
const ready = { stoppedBy: null, error: null, status: 'completed' as const, events: [], accepted: [] };

/** As the workflow's activity does: a deleted deployment leaves nothing behind. */
export function publishStored(
  db: Db,
  orgId: string,
  jobId: string,
  against?: string | null,
): Promise<'promoted' | 'moved' | 'deleted'> {
  return db
    .org(orgId, async (tx) => {
      await lockJob(tx, { orgId, jobId });
      const found = await promote(tx, { orgId, jobId }, { judgedAgainst: against });
      if (found === 'deleted') throw new Deleted();
      if (found === 'promoted') await finishJob(tx, { orgId, jobId }, ready);
      return found;
    })
    .catch((error: unknown) => {
      if (error instanceof Deleted) return 'deleted';
      throw error;
    });
}
