import type { Graph } from '../../core/graphs/graph.js';
import type { GraphContent, PromptContent } from '../../kinds/deployment/contract/snapshot.js';
import { policyFromSnapshot } from '../../kinds/deployment/contract/snapshot.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import { graphFromJson } from '../../core/graphs/json.js';
import type { Db } from '../../platform/db/db.js';
import { readSnapshot } from '../../kinds/deployment/store/snapshots.js';

/** A snapshot prepared to answer requests. */
export type PreparedSnapshot =
  | { id: string; kind: 'messages'; content: PromptContent; policy: PolicySpec }
  | { id: string; kind: 'graph'; content: GraphContent; graph: Graph; policies: PolicySpec[] };

/** Cache of snapshots for requests. */
export interface ServedSnapshots {
  /** Rejects if the organization has no such snapshot, which its deployments rule out. */
  get(orgId: string, id: string): Promise<PreparedSnapshot>;
}

const kept = 200;

/** Caches the most recently used snapshots; they are immutable. */
export function createServedSnapshots(db: Db): ServedSnapshots {
  const cache = new Map<string, Promise<PreparedSnapshot>>();
  return {
    async get(orgId, id) {
      const key = `${orgId} ${id}`;
      const known = cache.get(key) ?? read(db, orgId, id);
      cache.delete(key);
      cache.set(key, known);
      if (cache.size > kept) cache.delete(cache.keys().next().value!);
      try {
        return await known;
      } catch (error) {
        if (cache.get(key) === known) cache.delete(key);
        throw error;
      }
    },
  };
}

async function read(db: Db, orgId: string, id: string): Promise<PreparedSnapshot> {
  const snapshot = await db.orgApart(orgId, (tx) => readSnapshot(tx, id));
  if (!snapshot) throw new Error(`snapshot ${id} is missing in the database`);
  const { content } = snapshot;
  if (content.kind === 'messages')
    return { id, kind: content.kind, content, policy: policyFromSnapshot(content.policy) };
  return {
    id,
    kind: content.kind,
    content,
    graph: graphFromJson(content.graph),
    policies: content.policies.map(policyFromSnapshot),
  };
}
