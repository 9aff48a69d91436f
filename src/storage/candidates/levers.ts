import { createHash } from 'node:crypto';
import { componentTexts } from '../../core/prompts/components.js';
import type { Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/jobs/spec.js';
import { demosPart, leverId } from '../../core/jobs/ids.js';
import type { Tx } from '../db/db.js';

/** A component's lever, at the version of one candidate's text: 0 is the baseline's, each new text one more. */
export interface ComponentLever {
  name: string;
  version: number;
}

/**
 * Component to a digest of its text, and one of the demonstrations where the search knows these (not null); null for a prompt of one
 * component and nothing else, whose lever is the prompt's.
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

/** Candidate to the levers of its components; none of a prompt of one component, whose lever is the prompt's. */
export type ComponentLevers = ReadonlyMap<string, ComponentLever[]>;

/** The levers at the versions of one candidate: the prompt as a whole and, where there are several, its components. */
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

/** Every version of every component of the job $1, with those who have it; a text that comes again has its earlier version. */
const versions = `texts as (
    select d.key as name, d.value as digest, min(c.lever_version) as first, array_agg(c.id order by c.lever_version) as ids
      from candidates c cross join jsonb_each_text(c.component_digests) d where c.job_id = $1 group by 1, 2
  ), versions as (
    select *, (rank() over (partition by name order by first) - 1)::int as version from texts
  )`;

/** The levers of these candidates' components, by candidate and name; none of one whose prompt has one component. */
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

/** A session's levers with their latest versions: the prompt as a whole (null) first, null while it has no candidate. */
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

/** One version of a lever and the candidates that have it, the first of them first; `messages` are that one's, null while not known. */
export interface LeverVersion extends Record<string, unknown> {
  version: number;
  candidateIds: string[];
  messages: Message[] | null;
  demos: Demo[];
  createdAt: Date;
}

/** Versions of a lever after `after`, at most `limit`, ascending; of the component `name`, null: of the prompt as a whole. */
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
