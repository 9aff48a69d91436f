/** The rows by which what a name serves was judged, for its next judgement. */
import type { DeploymentSpec, RowsSpec, SessionSpec } from '../../../core/jobs/spec.js';
import type { Message } from '../../../core/prompts/message.js';
import { callerMessages, inputsOf } from '../../../core/prompts/row-template.js';
import { findSpec } from '../../../jobs/store/spec.js';
import type { Tx } from '../../../platform/db/db.js';
import type { SnapshotContent } from '../contract/snapshot.js';

/** Rows, the messages of a caller that they fill, and those that no search used; empty: unknown. */
export interface LiveRows {
  rows: RowsSpec;
  inputs: Message[];
  unseen: number[];
}

/** Deployments whose content another one has. */
const mostParents = 20;

/** Those of the gate or the session of a deployment, else those of its parent; null: none. */
export async function readLiveRows(tx: Tx, deploymentId: string): Promise<LiveRows | null> {
  let id = deploymentId;
  for (let parents = 0; parents < mostParents; parents += 1) {
    const spec = await findSpec<DeploymentSpec>(tx, id);
    if (!spec) return null;
    const { gate, rows, source } = spec;
    if (gate && rows) return { rows, inputs: gate.inputs ?? [], unseen: gate.seeds };
    if (source.kind === 'session') return rowsOfSession(tx, source.jobId);
    if (source.kind !== 'deployment') return null;
    id = source.deploymentId;
  }
  return null;
}

async function rowsOfSession(tx: Tx, sessionId: string): Promise<LiveRows | null> {
  const session = await findSpec<SessionSpec>(tx, sessionId);
  if (!session?.rows || !session.initialPrompt) return null;
  const { rows, initialPrompt, search } = session;
  const inputs = callerMessages(initialPrompt, inputsOf(rows.placeholders));
  return { rows, inputs, unseen: search.heldoutSeeds };
}

/** A prompt of messages, which rows can judge. */
export type LivePrompt = Extract<SnapshotContent, { kind: 'messages' }>;

/** Why rows cannot judge a content; null: they can. */
export function whyNotByRows(content: SnapshotContent): string | null {
  if (content.kind === 'graph') return 'a graph';
  return content.levers_marked ? 'texts of spans inside the calls of a container' : null;
}
