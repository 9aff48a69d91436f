import { createHash } from 'node:crypto';
import { policyToSnapshot, type PromptContent, type SnapshotContent } from '../contract/snapshot.js';
import type { DeploymentSource, GraphSpec, ReplacedParts, SessionSpec } from '../../../core/jobs/spec.js';
import type { Message } from '../../../core/prompts/message.js';
import { inputsOf, servedMessages } from '../../../core/prompts/row-template.js';
import type { Demo } from '../../../core/prompts/demos.js';
import type { GraphJson } from '../../graph/contract/graph.js';
import { graphFromJson } from '../../../core/graphs/json.js';
import { graphText } from '../../../core/graphs/text.js';
import { canonicalJson } from '../../../util/json.js';
import { candidateId as candidateIdOf } from '../../../core/jobs/ids.js';
import type { Tx } from '../../../platform/db/db.js';
import type { SessionProjection } from '../../../jobs/store/projection.js';
import { toJsonb } from '../../../platform/db/json.js';
import { readComponentLevers, versionsOf } from '../../../candidates/store/levers.js';

export interface Snapshot {
  id: string;
  content: SnapshotContent;
  createdAt: Date;
}

/** The id of a content: SHA-256 of its canonical JSON (RFC 8785). */
export function snapshotId(content: SnapshotContent): string {
  return `snap_${createHash('sha256').update(canonicalJson(content)).digest('hex')}`;
}

/** Stores a snapshot unless it exists. Returns its id. */
export async function putSnapshot(tx: Tx, orgId: string, content: SnapshotContent): Promise<string> {
  const text = toJsonb(content);
  const id = snapshotId(JSON.parse(text) as SnapshotContent);
  await tx.query('insert into snapshots (org_id, id, content) values ($1, $2, $3) on conflict do nothing', [
    orgId,
    id,
    text,
  ]);
  return id;
}

/** A snapshot of the organization, or null. */
export async function readSnapshot(tx: Tx, id: string): Promise<Snapshot | null> {
  const [row] = await tx.query<Snapshot & Record<string, unknown>>(
    'select id, content, created_at as "createdAt" from snapshots where id = $1',
    [id],
    'read_snapshot',
  );
  return row ?? null;
}

/** The content of a source's snapshot; null: job, candidate or prompt is missing. */
export async function readContent(tx: Tx, source: DeploymentSource): Promise<SnapshotContent | null> {
  if (source.kind === 'messages') {
    const { messages, policy } = source;
    return {
      kind: 'messages',
      messages,
      demos: [],
      levers_marked: false,
      policy: policyToSnapshot(policy),
      lever_versions: {},
      provenance: { source: 'messages', job_id: null, candidate_id: null, reward: null, verdict: null },
    };
  }
  if (source.kind === 'deployment') return branched(tx, source);
  const { jobId, candidateId } = source;
  const [row] = await tx.query<{
    spec: SessionSpec | GraphSpec;
    projection: SessionProjection;
    version: number;
    reward: number | null;
    messages: Message[] | null;
    demos: Demo[];
    graph: GraphJson | null;
  }>(
    `select j.spec, j.projection, c.lever_version as version, c.reward, c.messages, coalesce(c.demos, '[]') as demos, c.graph
       from jobs j join candidates c on c.job_id = j.id where j.id = $1 and c.id = $2`,
    [jobId, candidateId],
  );
  if (!row) return null;
  const { spec, projection, version, reward, messages, demos, graph } = row;
  const components = await readComponentLevers(tx, jobId, [candidateId]);
  const isBest = projection.bestCandidateId === candidateId;
  const common = {
    lever_versions: versionsOf(jobId, { candidateId, version }, components),
    provenance: {
      source: spec.kind === 'graph' ? ('graph_job' as const) : ('session' as const),
      job_id: jobId,
      candidate_id: candidateId,
      reward,
      verdict: (isBest && projection.verdict?.verdict) || null,
      ...(isBest && heldoutOf(projection)),
    },
  };
  if (spec.kind === 'graph') {
    if (!graph) return null;
    const policies = spec.policies.map(policyToSnapshot);
    return { kind: 'graph', graph, graph_txt: graphText(graphFromJson(graph)), policies, ...common };
  }
  if (!messages) return null;
  const marked = projection.leversMarked ?? false;
  const isInput = inputsOf(spec.rows?.placeholders ?? {});
  const content: PromptContent = {
    kind: 'messages',
    messages: servedMessages(messages, isInput),
    demos,
    levers_marked: marked,
    policy: policyToSnapshot(spec.policy),
    ...common,
  };
  const { messages: own } = source;
  return replaced(content, own ? { ...source, messages: servedMessages(own, isInput) } : source);
}

/** The winner's reward on the held-out rows; empty: there is none. */
function heldoutOf({ verdict }: SessionProjection): Pick<SnapshotContent['provenance'], 'heldout'> {
  if (verdict?.basis !== 'heldout') return {};
  const { seeds: rows, winner: reward, winnerInterval: interval, baseline } = verdict;
  return { heldout: { rows, reward, interval, baseline_reward: baseline } };
}

/** The content of another deployment. */
async function branched(
  tx: Tx,
  { deploymentId, snapshotId, ...parts }: Extract<DeploymentSource, { kind: 'deployment' }>,
): Promise<SnapshotContent | null> {
  const parent = await readSnapshot(tx, snapshotId);
  if (!parent) return null;
  const origin = { source: 'deployment' as const, job_id: deploymentId, candidate_id: null };
  const content = { ...parent.content, provenance: { ...parent.content.provenance, ...origin } };
  return content.kind === 'messages' ? replaced(content, parts) : content;
}

/** The content with replaced parts; without a reward, since it was not measured. */
function replaced(content: PromptContent, { messages, policy }: ReplacedParts): PromptContent {
  if (!messages && !policy) return content;
  const { heldout: _, ...provenance } = content.provenance;
  return {
    ...content,
    ...(messages && { messages, lever_versions: {} }),
    ...(policy && { policy: policyToSnapshot(policy) }),
    provenance: { ...provenance, reward: null, verdict: null },
  };
}

/** What the gate of a new name compares a source with: its parent; null: no parent. */
export function baselineSource(source: DeploymentSource): DeploymentSource | null {
  switch (source.kind) {
    case 'messages':
      return null;
    case 'deployment': {
      const { kind, deploymentId, snapshotId } = source;
      return { kind, deploymentId, snapshotId };
    }
    default:
      return { kind: source.kind, jobId: source.jobId, candidateId: candidateIdOf(source.jobId, 0) };
  }
}
