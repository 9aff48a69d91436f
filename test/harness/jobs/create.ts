import { randomUUID } from 'node:crypto';
import { until } from '../../support/until.js';
import type { World } from '../worlds/world.js';

/** Time limit for repeating a create while the service is away. */
const createdWithin = 60;

/** A created job, and the ids of all answers to its create. */
export interface Created {
  id: string;
  answered: string[];
}

/** Creates a job; repeats the request with its Idempotency-Key until the service answers. */
export async function create(
  { url, apiKey }: Pick<World, 'url' | 'apiKey'>,
  path: string,
  name: string,
  body: object,
): Promise<Created> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${apiKey}`,
    'idempotency-key': randomUUID(),
  };
  let tries = 0;
  const send = async (): Promise<string> => {
    tries += 1;
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const said = await answer.text();
    if (answer.status !== 201) throw new Error(`${answer.status} ${said}`);
    const { id, job_id: jobId } = JSON.parse(said) as { id?: string; job_id?: string };
    return (jobId ?? id)!;
  };
  const id = await until(`${name} is created`, send, createdWithin);
  if (tries === 1) return { id, answered: [id] };
  return { id, answered: [id, await until(`the create of ${name} is answered again`, send, createdWithin)] };
}
