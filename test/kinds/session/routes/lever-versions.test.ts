import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { componentTexts } from '../../../../src/core/prompts/components.js';
import { demoMessages, type Demo } from '../../../../src/core/prompts/demos.js';
import type { Message } from '../../../../src/core/prompts/message.js';
import { candidateId, demosPart, leverId } from '../../../../src/core/jobs/ids.js';
import { addCandidate, setBaseline } from '../../../../src/candidates/store/candidates.js';
import { project } from '../../../platform/http/seed.js';
import { createSession, httpOfFile } from '../../../platform/http/support.js';
import { runs } from '../../../support/runs.js';

// Every listed version of a lever can be read and is the text of its candidates.

const base = '/api/v1/online/sessions';
const http = httpOfFile();

const ask = (id: string, path = '') => http.call('GET', `${base}/${id}${path}`);
const get = async (id: string, path = '') => (await ask(id, path)).body;

/** Adds candidates under their versions, each with a prompt; null: not known yet. */
async function addAll(
  id: string,
  candidates: { version: number; messages: Message[] | null; demos?: Demo[] }[],
): Promise<void> {
  const job = { orgId: 'default', jobId: id };
  await http.db.org('default', async (tx) => {
    for (const { version, ...said } of candidates)
      await addCandidate(tx, job, { leverVersion: version, generation: 0, parents: [], ...said });
  });
}

/** All pages of a list. */
async function allOf(id: string, path: string, limit: number): Promise<{ version: number; candidate_ids: string[] }[]> {
  const found = [];
  for (let cursor = ''; ;) {
    const page = await get(id, `${path}?limit=${limit}${cursor}`);
    expect(page.data.length).toBeLessThanOrEqual(limit);
    found.push(...page.data);
    if (!page.has_more) return found;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const several = ['plan', 'system', 'answer'];
/** A prompt with a component for each text. */
const prompt = (texts: readonly string[]): Message[] =>
  texts.length === 1
    ? [{ role: 'system', content: texts[0]! }]
    : texts.map((content, index) => ({ role: 'system', content, name: several[index]! }));

/** Candidates of a search: ascending versions with gaps, repeated texts, no two equal. */
const sets = fc.integer({ min: 1, max: 3 }).chain((components) =>
  fc.record({
    components: fc.constant(components),
    prompts: fc.uniqueArray(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: components, maxLength: components }),
      { minLength: 1, maxLength: 12, selector: (texts) => texts.join() },
    ),
    gaps: fc.array(fc.nat(2), { minLength: 12, maxLength: 12 }),
    best: fc.option(fc.nat(11)),
    limit: fc.integer({ min: 1, max: 20 }),
  }),
);

test('levers, versions and texts are consistent for any candidates', async () => {
  await fc.assert(
    fc.asyncProperty(sets, async ({ components, prompts, gaps, best, limit }) => {
      const id = await createSession(http);
      let next = 0;
      const candidates = prompts.map((texts, index) => {
        const version = next;
        next += 1 + gaps[index]!;
        return { version, messages: prompt(texts) };
      });
      await addAll(id, candidates);
      const winner = best === null ? null : candidates[best % candidates.length]!;
      if (winner) await project(http, id, { bestCandidateId: candidateId(id, winner.version), bestReward: 1 });

      const { lever_summary: summary, lever_versions: versions, best_lever_version: bestVersion } = await get(id);
      const ids = candidates.map(({ version }) => candidateId(id, version));
      expect(summary.candidate_lever_versions).toEqual(
        Object.fromEntries(candidates.map(({ version }) => [candidateId(id, version), version])),
      );
      const given = Object.values<number>(summary.candidate_lever_versions);
      expect(summary.mutation_count).toBe(given.filter((version) => version > 0).length);
      expect(summary.latest_version).toBe(Math.max(...given));
      expect(summary.candidate_lever_versions[summary.baseline_candidate_id]).toBe(0);
      expect(summary.lever_count).toBe(components === 1 ? 1 : 1 + components);
      expect(Object.keys(versions)).toHaveLength(summary.lever_count);
      expect(summary.best_candidate_id).toBe(winner && candidateId(id, winner.version));
      expect(bestVersion).toBe(winner && winner.version);
      expect(summary.selected_candidate_id).toBe(summary.best_candidate_id ?? summary.baseline_candidate_id);
      expect(versions[summary.prompt_lever_id]).toBe(summary.candidate_lever_versions[summary.selected_candidate_id]);

      // Composite and components agree with the list of levers, and every version of each can be
      // read.
      const { data: levers } = await get(id, '/levers');
      expect(levers.map((lever: { lever_id: string }) => lever.lever_id).sort()).toEqual(Object.keys(versions).sort());
      expect(levers[0]).toEqual({
        lever_id: summary.prompt_lever_id,
        component: null,
        latest_version: summary.latest_version,
        best_version: bestVersion,
      });
      for (const { lever_id: lever, component, latest_version: latest, best_version: ofBest } of levers) {
        expect(ofBest).toBe(winner && versions[lever]);
        const listed = await allOf(id, `/levers/${lever}/versions`, limit);
        expect(listed.at(-1)!.version).toBe(latest);
        if (component !== null) expect(listed.map(({ version }) => version)).toEqual([...listed.keys()]);
        expect(listed.flatMap((version) => version.candidate_ids).sort()).toEqual([...ids].sort());
        const said = new Set<string>();
        for (const item of listed) {
          const { messages, text, ...one } = await get(id, `/levers/${lever}/versions/${item.version}`);
          expect(one).toEqual({ ...item, lever_id: lever, component });
          for (const candidate of item.candidate_ids) {
            const own = candidates[ids.indexOf(candidate)]!.messages;
            if (component === null) expect(messages).toEqual(own);
            else expect(text).toBe(componentTexts(own)[component]);
          }
          said.add(JSON.stringify([messages, text]));
        }
        expect(said.size).toBe(listed.length);
      }
      if (!winner) return;
      const { messages } = await get(id, `/levers/${summary.prompt_lever_id}/versions/${bestVersion}`);
      expect((await get(id, '/results')).best_prompt.messages).toEqual(messages);
    }),
    { numRuns: runs(10, 30) },
  );
}, 120_000);

describe('a baseline that is not known yet', () => {
  test('is a version without messages, and has components once it is known', async () => {
    const id = await createSession(http);
    const whole = leverId(id, null);
    expect((await get(id, '/levers')).data).toEqual([
      { lever_id: whole, component: null, latest_version: null, best_version: null },
    ]);
    expect((await get(id)).lever_summary).toMatchObject({ lever_count: 1, mutation_count: 0, latest_version: null });
    expect((await get(id, `/levers/${whole}/versions`)).data).toEqual([]);
    expect((await ask(id, `/levers/${whole}/versions/0`)).status).toBe(404);
    await addAll(id, [{ version: 0, messages: null }]);
    expect(await get(id, `/levers/${whole}/versions/0`)).toEqual({
      lever_id: whole,
      component: null,
      version: 0,
      messages: null,
      candidate_ids: [candidateId(id, 0)],
      created_at: expect.any(String),
    });
    await http.db.org('default', (tx) => setBaseline(tx, id, prompt(['a', 'b', 'c'])));
    expect((await get(id, '/levers')).data).toHaveLength(4);
    expect(await get(id, `/levers/${leverId(id, 'system')}/versions/0`)).toMatchObject({
      component: 'system',
      text: 'b',
    });
  });
});

test('demonstrations are a lever beside the texts; its versions are the demonstrations, and the whole prompt has both', async () => {
  const demo = (said: string): Demo => ({ component: null, seed: 1, ordinal: 0, input: `q ${said}`, output: said });
  const [a, b] = [prompt(['a']), prompt(['b'])];
  const id = await createSession(http);
  await addAll(id, [
    { version: 0, messages: a, demos: [] },
    { version: 1, messages: a, demos: [demo('x'), demo('y')] },
    { version: 2, messages: b, demos: [demo('x'), demo('y')] },
    { version: 3, messages: a, demos: [demo('y'), demo('x')] },
  ]);
  const { data } = await get(id, '/levers');
  expect(data.map((lever: { component: string | null }) => lever.component)).toEqual([null, '_demos', 'system']);
  const path = `/levers/${leverId(id, demosPart)}/versions`;
  const listed = await allOf(id, path, 2);
  expect(listed.map((version) => version.candidate_ids)).toEqual(
    [[0], [1, 2], [3]].map((versions) => versions.map((version) => candidateId(id, version))),
  );
  const pairs = (...shown: string[]) => shown.flatMap((said) => demoMessages(demo(said)));
  for (const [version, messages] of [[], pairs('x', 'y'), pairs('y', 'x')].entries())
    expect(await get(id, `${path}/${version}`)).toMatchObject({ component: '_demos', messages });
  expect(await get(id, `/levers/${leverId(id, null)}/versions/2`)).toMatchObject({
    component: null,
    messages: [...b, ...pairs('x', 'y')],
  });
});

describe('unknown resources are 404', () => {
  let id: string;
  beforeAll(async () => {
    id = await createSession(http);
    await addAll(id, [
      { version: 0, messages: prompt(['a', 'b']) },
      { version: 2, messages: prompt(['a', 'c']) },
    ]);
  });
  const whole = () => leverId(id, null);
  const other = `ses_${'0'.repeat(32)}`;

  test.each([
    ['the version of a failed proposal', () => `/levers/${whole()}/versions/1`],
    ['a version that does not exist yet', () => `/levers/${whole()}/versions/3`],
    ['an unknown version of a component', () => `/levers/${leverId(id, 'plan')}/versions/1`],
    ['a version other than a number', () => `/levers/${whole()}/versions/latest`],
    ['a number above the limit', () => `/levers/${whole()}/versions/99999999999999999999`],
    ['a number below 0', () => `/levers/${whole()}/versions/-1`],
    ['a component missing from the prompt', () => `/levers/${leverId(id, 'answer')}/versions`],
    ['its version', () => `/levers/${leverId(id, 'answer')}/versions/0`],
    ["another session's lever", () => `/levers/${leverId(other, null)}/versions`],
    ['an invalid id', () => '/levers/%00/versions'],
    ['an invalid name', () => `/levers/${whole().slice(0, -6)}%00/versions/0`],
  ])('%s', async (_, path) => {
    const { status, body } = await ask(id, path());
    expect([status, body.code]).toEqual([404, 'not_found']);
  });

  test('all are 404 for another organization', async () => {
    for (const path of ['', `/${whole()}/versions`, `/${whole()}/versions/0`]) {
      expect((await ask(id, `/levers${path}`)).status).toBe(200);
      const { status } = await http.call('GET', `${base}/${id}/levers${path}`, undefined, {
        authorization: `Bearer ${http.otherKey}`,
      });
      expect(status).toBe(404);
    }
  });
});
