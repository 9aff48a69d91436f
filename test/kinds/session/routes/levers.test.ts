import { expect, test } from '@jest/globals';
import type { Message } from '../../../../src/core/prompts/message.js';
import { candidateId } from '../../../../src/core/jobs/ids.js';
import { setBaseline } from '../../../../src/candidates/store/candidates.js';
import { project, seedCandidates } from '../../../platform/http/seed.js';
import { createSession, httpOfFile } from '../../../platform/http/support.js';

const base = '/api/v1/online/sessions';
const http = httpOfFile();
const get = async (id: string, path = '') => (await http.call('GET', `${base}/${id}${path}`)).body;

/** A prompt of three components. */
const prompt = (system: string, plan: string, user: string): Message[] => [
  { role: 'system', content: system },
  { role: 'system', content: plan, name: 'plan' },
  { role: 'user', content: user },
];
const texts: [string, string, string][] = [
  ['s0', 'p0', 'u0'],
  ['s0', 'p1', 'u0'],
  ['s1', 'p2', 'u0'],
  ['s1', 'p1', 'u0'],
  ['s0', 'p3', 'p1'],
];

async function session(count: number): Promise<string> {
  const id = await createSession(http);
  const candidates = texts
    .slice(0, count)
    .map((components) => ({ status: 'evaluated', messages: prompt(...components) }));
  await seedCandidates(
    http,
    id,
    candidates.map((candidate) => ({ ...candidate, generation: 0, reward: 1 })),
  );
  return id;
}

test('each of several components has a lever, whose version counts its texts', async () => {
  const id = await session(5);
  const lever = (name: string) => `lever_${id.slice(4)}_${name}`;
  const versions = [
    [0, 0, 0],
    [0, 1, 0],
    [1, 2, 0],
    [1, 1, 0],
    [0, 3, 1],
  ];
  for (const [version, [system, plan, user]] of versions.entries()) {
    await project(http, id, { bestCandidateId: candidateId(id, version), bestReward: 1 });
    for (const path of ['', '/results']) {
      const seen = await get(id, path);
      expect(seen.lever_versions).toEqual({
        [lever('system')]: version,
        [lever('_system')]: system,
        [lever('plan')]: plan,
        [lever('user')]: user,
      });
      expect(seen.best_lever_version).toBe(version);
      expect(seen.lever_summary).toMatchObject({ prompt_lever_id: lever('system'), lever_count: 4, latest_version: 4 });
    }
  }
  expect((await get(id, '/results')).best_prompt.messages).toEqual(prompt(...texts[4]!));
  expect((await get(id, `/candidates/${candidateId(id, 1)}`)).messages).toEqual(prompt(...texts[1]!));
});

test('without a best the selected candidate is the baseline, which inference gets', async () => {
  const id = await session(2);
  const { lever_summary: summary, lever_versions: versions, best_lever_version: best } = await get(id);
  expect(summary).toEqual({
    prompt_lever_id: `lever_${id.slice(4)}_system`,
    candidate_lever_versions: { [candidateId(id, 0)]: 0, [candidateId(id, 1)]: 1 },
    best_candidate_id: null,
    selected_candidate_id: candidateId(id, 0),
    baseline_candidate_id: candidateId(id, 0),
    lever_count: 4,
    mutation_count: 1,
    latest_version: 1,
  });
  expect(Object.values(versions)).toEqual([0, 0, 0, 0]);
  expect(best).toBeNull();
});

test('the same applies to a baseline from calls', async () => {
  const id = await session(0);
  await http.db.org('default', (tx) =>
    tx.query(
      `insert into candidates (id, org_id, job_id, lever_version, generation, status) values ($1, 'default', $2, 0, 0, 'evaluated')`,
      [candidateId(id, 0), id],
    ),
  );
  expect(await get(id)).toMatchObject({ lever_summary: { lever_count: 1 } });
  await http.db.org('default', (tx) => setBaseline(tx, id, prompt(...texts[0]!)));
  expect(await get(id)).toMatchObject({ lever_summary: { lever_count: 4 } });
});
