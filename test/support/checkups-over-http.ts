import type { z } from 'zod';
import { isTerminal } from '../../src/core/jobs/status.js';
import { jobKinds } from '../../src/core/jobs/kinds.js';
import type { checkupCreatedSchema, checkupSchema } from '../../src/kinds/checkup/contract/checkup.js';
import type { Api } from './api.js';
import { ask } from './deployments-over-http.js';
import { deployments } from './jobs-over-http.js';
import { range } from './range.js';
import { until } from './until.js';
import { ruleRow } from './worlds/rows.js';

export type Checkup = z.output<typeof checkupSchema>;
export const checkups = jobKinds.checkup.path;

interface Served {
  url: string;
  apiKey: string;
  api: Api;
}

/** Creates a checkup of a name, or with `improve` an improvement. */
export function checkUp(
  { api }: Pick<Served, 'api'>,
  name: string,
  body: object,
  route: 'checkups' | 'improve' = 'checkups',
): Promise<z.output<typeof checkupCreatedSchema>> {
  return api.call('POST', `${deployments}/${name}/${route}`, body);
}

export const readCheckup = ({ api }: Pick<Served, 'api'>, id: string): Promise<Checkup> =>
  api.call<Checkup>('GET', `${checkups}/${id}`);

/** Waits until a checkup is completed, failed or cancelled. */
export function checkedUp(served: Pick<Served, 'api'>, id: string, seconds = 90): Promise<Checkup> {
  return until(
    `${id} has ended`,
    async () => {
      const checkup = await readCheckup(served, id);
      return isTerminal(checkup.status) && checkup;
    },
    seconds,
    200,
  );
}

/** Asks a name that keeps texts `count` questions of its own; returns the ids of the answers. */
export async function askedOf(served: Served, name: string, count: number, rules = 4): Promise<string[]> {
  const ids: string[] = [];
  for (const row of range(1_000, count)) {
    const { question: content } = ruleRow(row, rules);
    const answer = await ask(served, name, { messages: [{ role: 'user', content }] });
    ids.push(answer.headers.get('x-ratchet-answer-id')!);
    await answer.text();
  }
  await until(`${name} has kept ${count} requests`, async () => {
    const { data } = await served.api.call<{ data: unknown[] }>('GET', `${deployments}/${name}/requests?limit=100`);
    return data.length >= Math.min(100, count);
  });
  return ids;
}
