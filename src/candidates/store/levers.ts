import { createHash } from 'node:crypto';
import { componentTexts } from '../../core/prompts/components.js';
import type { Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/prompts/message.js';
import { demosPart, leverId } from '../../core/jobs/ids.js';
import type { Tx } from '../../platform/db/db.js';

/** A component's lever. Version 0 is the baseline's text; each new text increments it. */
export interface ComponentLever {
  name: string;
  version: number;
}

/**
 * Digest of each component's text, and of the demonstrations unless `demos` is null. null: a prompt
 * of one component without demonstrations, covered by the prompt's lever.
 */
export function componentDigests(
  messages: Message[] | null,
  demos: readonly Demo[] | null = null,
): Record<string, string> | null {
  if (!messages || (messages.length < 2 && !demos)) return null;
  const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const texts = Object.entries(componentTexts(messages)).map(([name, text]) => [name, digest(text)]);
  const shown = demos?.map(({ component, input, output }) => [component, input, output]);
  return Object.fromEntries(shown ? [...texts, [demosPart, digest(JSON.stringify(shown))]] : texts) as Record<
    string,
    string
  >;
}

/** Component levers by candidate; empty for a prompt of one component. */
export type ComponentLevers = ReadonlyMap<string, ComponentLever[]>;

/** A candidate's lever versions: the prompt and, if there are several, its components. */
export function versionsOf(
  jobId: string,
  candidate: { candidateId: string; version: number },
  components: ComponentLevers,
): Record<string, number> {
  const several = components.get(candidate.candidateId) ?? [];
  return Object.fromEntries([
    [leverId(jobId, null), candidate.version],
    ...several.map(({ name, version }) => [leverId(jobId, name), version]),
  ]) as Record<string, number>;
}

/** All component versions of job $1, with their candidates; a repeated text keeps its version. */
const versions = `texts as (
    select d.key as name, d.value as digest, min(c.lever_version) as first, array_agg(c.id order by c.lever_version) as ids
      from candidates c cross join jsonb_each_text(c.component_digests) d where c.job_id = $1 group by 1, 2
  ), versions as (
    select *, (rank() over (partition by name order by first) - 1)::int as version from texts
  )`;

/** Component levers of these candidates, by candidate id. */
export async function readComponentLevers(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
): Promise<Map<string, ComponentLever[]>> {
  const rows = await tx.query<ComponentLever & { id: string }>(
    `with ${versions}
     select id, name, version from versions, unnest(ids) as id where id = any($2) order by id, name`,
    [jobId, candidateIds],
  );
  const levers = new Map<string, ComponentLever[]>();
  for (const { id, name, version } of rows) levers.set(id, [...(levers.get(id) ?? []), { name, version }]);
  return levers;
}

/**
 * A session's levers with their latest versions: first the prompt (name null; latest null: no
 * candidate yet).
 */
export async function readLevers(tx: Tx, jobId: string): Promise<{ name: string | null; latest: number | null }[]> {
  return tx.query(
    `with ${versions}
     select null as name, max(lever_version) as latest from candidates where job_id = $1
     union all
     select name, max(version) from versions group by name
     order by name nulls first`,
    [jobId],
  );
}

/** A lever version and its candidates. `messages` are of the first one; null: not known yet. */
export interface LeverVersion extends Record<string, unknown> {
  version: number;
  candidateIds: string[];
  messages: Message[] | null;
  demos: Demo[];
  createdAt: Date;
}

/** At most `limit` versions of a lever after `after`, ascending. `name` null: the whole prompt. */
export async function readLeverVersions(
  tx: Tx,
  jobId: string,
  name: string | null,
  { after, limit }: { after: number; limit: number },
): Promise<LeverVersion[]> {
  const columns = `c.messages, coalesce(c.demos, '[]') as demos, c.created_at as "createdAt"`;
  if (name === null) {
    return tx.query<LeverVersion>(
      `select c.lever_version as version, array[c.id] as "candidateIds", ${columns}
         from candidates c where c.job_id = $1 and c.lever_version > $2 order by 1 limit $3`,
      [jobId, after, limit],
    );
  }
  return tx.query<LeverVersion>(
    `with ${versions}
     select v.version, v.ids as "candidateIds", ${columns}
       from versions v join candidates c on c.job_id = $1 and c.lever_version = v.first
      where v.name = $4 and v.version > $2 order by 1 limit $3`,
    [jobId, after, limit, name],
  );
}
