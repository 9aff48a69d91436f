/** The jobs that a checkup starts. */
import type { CheckupSpec, DeploymentSource, EvaluationSpec } from '../../../core/jobs/spec.js';
import { changedSeeds } from '../../../core/math/repeated-pairs.js';
import type { CheckupRecord, EvaluationPart, Part } from '../../../core/checkups/steps.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { readCanaryOf } from '../../deployment/store/canaries.js';
import { frozenEvaluation } from '../../deployment/store/gate.js';
import { insertFound, insertPart, readPrompt } from '../../deployment/store/parts.js';
import { readLive } from '../../deployment/store/served.js';
import type { Tx } from '../../../platform/db/db.js';
import { partId, readParts } from './record.js';

/** A checkup with what is known of it. */
export interface KnownCheckup extends JobRef {
  spec: CheckupSpec;
  record: CheckupRecord;
}

const winnerOf = (checkupId: string, candidateId: string): DeploymentSource => ({
  kind: 'session',
  jobId: partId(checkupId, 'session'),
  candidateId,
});

/** Stores a job of a checkup. False: it exists. */
export function insertCheckupPart(tx: Tx, checkup: KnownCheckup, part: Part): Promise<boolean> {
  const { orgId, jobId, spec } = checkup;
  const { name, maxCostUsd, improve } = spec;
  const specOf = async () => (part === 'session' ? improve!.session : evaluationOf(tx, checkup, part));
  return insertPart(tx, jobId, { partId, readParts }, { part, orgId, name, maxCostUsd, specOf });
}

async function evaluationOf(
  tx: Tx,
  { jobId, spec, record }: KnownCheckup,
  part: EvaluationPart,
): Promise<EvaluationSpec> {
  const { name, policy, container, snapshotId } = spec;
  const isAgain = part === 'winner_again' || part === 'traffic_again';
  const { winner: candidate, traffic: incumbent } = record.rewards;
  const isWinner = part === 'winner' || part === 'winner_again';
  const from = isWinner ? winnerOf(jobId, record.session!.winner!) : snapshotId;
  const { rows, gate } = spec.parts[part === 'rows' ? 'rows' : 'traffic']!;
  return frozenEvaluation(
    { name, container, rows, gate },
    {
      policy,
      content: await readPrompt(tx, from),
      snapshotId: null,
      repeated: isAgain ? changedSeeds({ candidate: candidate!, incumbent: incumbent! }) : null,
    },
  );
}

/** `isMoved`: the name serves something else; else another version is being rolled out. */
export interface NotDeployable {
  isMoved: boolean;
  reason: string;
}

/** Why the name cannot take the winner now; null: it can. */
export async function whyNotDeployable(
  tx: Tx,
  { name, deploymentId }: Pick<CheckupSpec, 'name' | 'deploymentId'>,
): Promise<NotDeployable | null> {
  const live = await readLive(tx, name);
  if (live?.id !== deploymentId) {
    const now = live ? `serves ${live.id}` : 'serves nothing';
    const reason = `${name} ${now} by now, and the checkup compared with ${deploymentId}. Check it up again.`;
    return { isMoved: true, reason };
  }
  const canary = await readCanaryOf(tx, name);
  return canary === null
    ? null
    : { isMoved: false, reason: `${canary} of ${name} is being rolled out. Wait for its end first.` };
}

/** Stores the deployment of the winner. */
export function insertWinner(
  tx: Tx,
  { orgId, jobId }: JobRef,
  { name, improve }: CheckupSpec,
  { winner, keyId, reason = null }: { winner: string; keyId: string | null; reason?: string | null },
): Promise<string> {
  const { canary, reason: asked } = improve!.deploy!;
  return insertFound(tx, orgId, {
    name,
    source: winnerOf(jobId, winner),
    canary,
    reason: reason ?? asked ?? `Checkup ${jobId}`,
    keyId,
  });
}
