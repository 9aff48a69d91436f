import { createHash } from 'node:crypto';
import { textsOf } from '../contracts/components.js';
import type { Message } from '../contracts/spec.js';
import type { Tx } from './db.js';

/** A component's lever, at the version of one candidate's text: 0 is the baseline's, each new text one more. */
export interface ComponentLever extends Record<string, unknown> {
  name: string;
  version: number;
}

/** Component to a digest of its text; null for a prompt of one component, whose lever is the prompt's. */
export function componentDigests(messages: Message[] | null): Record<string, string> | null {
  if (!messages || messages.length < 2) return null;
  const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return Object.fromEntries(Object.entries(textsOf(messages)).map(([name, text]) => [name, digest(text)]));
}

/** The levers of a candidate's components; empty where it has one component. A text that comes again has its earlier version. */
export async function readComponentLevers(tx: Tx, jobId: string, candidateId: string): Promise<ComponentLever[]> {
  return tx.query<ComponentLever>(
    `with texts as (
       select d.key as name, d.value as digest, min(c.lever_version) as first
         from candidates c cross join jsonb_each_text(c.component_digests) d where c.job_id = $1 group by 1, 2
     ), versions as (
       select name, digest, (rank() over (partition by name order by first) - 1)::int as version from texts
     )
     select v.name, v.version
       from candidates c cross join jsonb_each_text(c.component_digests) d
       join versions v on v.name = d.key and v.digest = d.value
      where c.job_id = $1 and c.id = $2 order by v.name`,
    [jobId, candidateId],
  );
}
