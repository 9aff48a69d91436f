import { describe, expect, test } from '@jest/globals';
import { jobKinds } from '../../../src/core/jobs/kinds.js';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { heldMs, maxHeldMs } from '../../support/held.js';
import { until } from '../../support/until.js';
import { seedCandidates } from '../../platform/http/seed.js';
import { httpOfFile, type Answer } from '../../platform/http/support.js';

const http = httpOfFile();
const at = '/policy_optimization';
const rows = Array.from({ length: 40 }, (_, row) => ({ text: `t${row}`, label: row % 4 === 0 ? 'a' : 'b', size: row }));
const dataset = { rows, input: 'text', expected: 'label' };
const policy = { provider: 'local', model: 'local' };
const gepa = { population_size: 1, generations: 2 };
const prompt = (...contents: string[]) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
const fields = {
  algorithm: 'gepa',
  dataset,
  scorer: 'exact',
  policy,
  gepa,
  initial_prompt: prompt('Answer a, b or other.'),
};

const createSession = (more: object = {}, key = http.key, query = '') =>
  http.call(
    'POST',
    `${jobKinds.session.path}${query}`,
    { policy_optimization: { ...fields, ...more } },
    { authorization: `Bearer ${key}` },
  );
const createEvaluation = (more: object = {}) =>
  http.call('POST', jobKinds.evaluation.path, {
    app_id: 'test',
    dataset,
    scorer: 'exact',
    policy,
    candidate: prompt('Answer {{text}}.'),
    ...more,
  });
const wide = (from: number) => Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`c${from + n}`, n]));
const unstored = [{ text: 'never stored', label: 'no number' }];
const upload = async (data: object[]) => (await http.call('POST', '/api/v1/datasets', data)).body.dataset_id as string;

describe('a session on a data set', () => {
  test('gets a split in which each part has each label in its share', async () => {
    const { status, body } = await createSession();
    expect(status).toBe(201);
    const { train, evaluation, heldout } = body.split as Record<string, number[]>;
    expect([train!.length, evaluation!.length, heldout!.length]).toEqual([16, 11, 13]);
    expect([...train!, ...evaluation!, ...heldout!].sort((a, b) => a - b)).toEqual([...Array(40).keys()]);
    const count = (part: number[]) => part.filter((row) => rows[row]!.label === 'a').length;
    expect([train!, evaluation!, heldout!].map(count).every((few, part) => Math.abs(few - [4, 3, 3][part]!) <= 1)).toBe(
      true,
    );
    const state = await http.call('GET', `${jobKinds.session.path}/${body.session_id}`);
    expect(state.body).toMatchObject({ split: body.split, container_url: null, dataset: { num_rows: 40, name: null } });
    const { dataset_id: stored } = state.body.dataset as { dataset_id: string };
    await http.call('PATCH', `/api/v1/datasets/${stored}`, { name: 'forty' });
    expect((await http.call('GET', `${jobKinds.session.path}/${body.session_id}`)).body.dataset.name).toBe('forty');
    expect((await createSession()).body.split).toEqual(body.split);
    expect((await createSession({ rng_seed: 1 })).body.split).not.toEqual(body.split);
  });

  test('gives each part its share of many labels, too', async () => {
    const many = Array.from({ length: 240 }, (_, row) => ({ text: `t${row}`, label: `label ${Math.floor(row / 3)}` }));
    const { body } = await createSession({ dataset: { ...dataset, rows: many } });
    const labels = (body.split.heldout as number[]).map((row) => many[row]!.label);
    expect(labels.length).toBe(80);
    expect(new Set(labels).size).toBeGreaterThan(75);
  });

  test('gives an evaluation a tenth of the budget, and a held-out comparison a third', async () => {
    const { body } = await createSession({ budget: { max_rollouts: 60 } });
    expect([body.split.evaluation.length, body.split.heldout.length]).toEqual([6, 10]);
  });

  test('holds out as many rows as it is told, if enough are left, and says what they can show', async () => {
    const held = async (heldout_rows: number) => createSession({ heldout_rows });
    const { body } = await held(25);
    expect(body.split.heldout).toHaveLength(25);
    expect(body.planned_comparison).toEqual({
      basis: 'heldout',
      seeds: 25,
      least_difference: expect.closeTo(6 / 25, 9),
      seeds_for_tenth: 90,
    });
    expect((await held(0)).body.planned_comparison).toMatchObject({ basis: 'evaluation' });
    const { status, body: refusal } = await held(31);
    expect([status, refusal.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      422,
      ['/policy_optimization/heldout_rows'],
    ]);
    const { body: named } = await createSession({
      heldout_rows: 5,
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: [1, 2] } },
    });
    expect(named.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/policy_optimization/heldout_rows',
    ]);
  });

  test('warns before the start of held-out rows that leave too few for the search', async () => {
    const warned = async (more: object) => {
      const { status, body } = await createSession(
        { ...more, initial_prompt: prompt('a or b') },
        http.key,
        '?dry_run=true',
      );
      expect(status).toBe(200);
      return ((body.warnings ?? []) as string[]).filter((warning) => warning.startsWith('Holding out'));
    };
    expect(await warned({})).toEqual([]);
    expect(await warned({ heldout_rows: 13 })).toEqual([]);
    expect(await warned({ heldout_rows: 25 })).toEqual([
      expect.stringMatching(/\b9 train.*\b6 evaluation.*\b75 in all/),
    ]);
  });

  test.each([
    ['Answer.', /none of the 2 labels.*"label" \(b, a\)/],
    ['Answer b, or something else.', /does not name 1 of the 2 labels.*\(a\)/],
    ['Answer a or b.', null],
  ])('warns before the start of labels that "%s" does not name', async (content, wanted) => {
    const { body } = await createSession({ initial_prompt: prompt(content) }, http.key, '?dry_run=true');
    const { body: evaluation } = await createEvaluation({ candidate: prompt(`${content} {{text}}`) });
    for (const warnings of [body.warnings ?? [], evaluation.warnings ?? []] as string[][])
      expect(warnings.filter((warning) => warning.includes('labels in'))).toEqual(
        wanted === null ? [] : [expect.stringMatching(wanted)],
      );
  });

  test('is silent about labels that stand in the inputs, and about numbers', async () => {
    const of = async (more: object) =>
      (((await createSession(more, http.key, '?dry_run=true')).body.warnings ?? []) as string[]).filter((warning) =>
        warning.includes('labels in'),
      );
    const labelled = (text: (label: string) => string, labels: unknown[]) => ({
      dataset: {
        ...dataset,
        rows: rows.map((_, row) => ({ text: text(String(labels[row % 2])) + ` ${row}`, label: labels[row % 2] })),
      },
    });
    expect(await of(labelled((label) => `is it ${label}`, ['yes', 'no']))).toEqual([]);
    expect(await of(labelled(() => 'rate', [1, 2]))).toEqual([]);
  });

  test('refuses a baseline that is longer than the longest prompt', async () => {
    const { status, body } = await createSession({ max_prompt_tokens: 1 });
    expect([status, body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      422,
      ['/policy_optimization/max_prompt_tokens'],
    ]);
    expect((await createSession({ max_prompt_tokens: 500 })).status).toBe(201);
  });

  test.each(['uploaded', 'inline'])('uses the first of equal rows, and warns (%s)', async (form) => {
    const repeated = [...rows.slice(0, 20), ...rows.slice(0, 20), { ...rows[0]!, label: 'other' }];
    const named = { input: 'text', expected: 'label' };
    const given = form === 'inline' ? { rows: repeated } : { dataset_id: await upload(repeated) };
    const { body } = await createSession({ dataset: { ...named, ...given } });
    const { train, evaluation, heldout } = body.split as Record<string, number[]>;
    expect([...train!, ...evaluation!, ...heldout!].sort((a, b) => a - b)).toEqual([...Array(20).keys(), 40]);
    expect([train!, evaluation!].some((part) => part.includes(0) && part.includes(40))).toBe(true);
    const state = await http.call('GET', `${jobKinds.session.path}/${body.session_id}`);
    expect(state.body.warnings).toHaveLength(2);
  });

  test.each(['uploaded', 'inline'])('keeps inputs of other white space or Unicode in one part (%s)', async (form) => {
    const accented = rows.slice(0, 20).map((row) => ({ ...row, text: `${row.text} caf\u00e9` }));
    const copies = rows.slice(0, 20).map((row) => ({ ...row, text: ` ${row.text}\n cafe\u0301 ` }));
    const all = [...accented, ...copies];
    const given = form === 'inline' ? { rows: all } : { dataset_id: await upload(all) };
    const { body } = await createSession({ dataset: { input: 'text', expected: 'label', ...given } });
    const parts = Object.values(body.split as Record<string, number[]>);
    for (const part of parts) for (const row of part) expect(part).toContain((row + 20) % 40);
    expect(parts.flat()).toHaveLength(40);
  });

  test.each(['uploaded', 'inline'])('names rows that differ in case or punctuation, also dry (%s)', async (form) => {
    const all = [...rows.slice(0, 20), { ...rows[3]!, text: `${rows[3]!.text.toUpperCase()}!!` }];
    const given = form === 'inline' ? { rows: all } : { dataset_id: await upload(all) };
    const wanted = { dataset: { input: 'text', expected: 'label', ...given } };
    const dry = await createSession(wanted, http.key, '?dry_run=true');
    const { body } = await createSession(wanted);
    expect(body.warnings).toEqual([expect.stringContaining('(rows 3, 20)')]);
    expect(dry.body.warnings).toEqual(body.warnings);
  });

  const chat = (...last: object[]) => [{ role: 'user', content: 'Weather?' }, ...last];
  const call = { role: 'assistant', content: null, tool_calls: [{ id: '1' }] };
  test('warns of chats that are no texts, and of lists that are texts', async () => {
    const odd = [
      { input: chat(call), expected: '["a", "b"]' },
      { input: chat(), expected: 'a' },
    ];
    const { status, body } = await createEvaluation({ dataset: { rows: odd }, candidate: prompt('{{input}}') });
    expect([status, body.warnings]).toEqual([201, [expect.stringMatching(/tools/), expect.stringMatching(/list/)]]);
    const session = await createSession({ dataset: { rows: [...odd, ...odd] } });
    expect(session.body.warnings).toEqual(expect.arrayContaining([expect.stringMatching(/tools/)]));
  });

  test('refuses chats that end with a call where the last turn is the right answer', async () => {
    const { status, body } = await createEvaluation({
      dataset: { rows: [{ messages: chat(call) }] },
      candidate: prompt('Answer.'),
    });
    expect([status, body.errors[0].pointer]).toEqual([422, '/dataset/expected']);
  });

  test('warns of named rows that stand on both sides', async () => {
    const repeated = [...rows.slice(0, 20), ...rows.slice(0, 20)];
    const warned = async (train: number[], evaluation: number[], heldout: number[]) => {
      const named = { train_seeds: train, evaluation: { seeds: evaluation, heldout_seeds: heldout } };
      const { body } = await createSession({ dataset: { ...dataset, rows: repeated }, gepa: { ...gepa, ...named } });
      const state = await http.call('GET', `${jobKinds.session.path}/${body.session_id}`);
      return (state.body.warnings as string[]).length;
    };
    expect(await warned([0, 1, 2], [3, 4], [5, 6])).toBe(0);
    expect(await warned([0, 1, 2], [20, 4], [5, 6])).toBe(1);
    expect(await warned([0, 1, 2], [3, 4], [22, 6, 26])).toBe(2);
  });

  test.each<[string, (n: number) => object]>([
    ['openai/evals', (n: number) => ({ input: [{ role: 'user', content: `${n}` }], ideal: ['4', 'four'] })],
    [
      'fine-tuning',
      (n: number) => ({
        messages: [
          { role: 'user', content: `${n}` },
          { role: 'assistant', content: '4' },
        ],
      }),
    ],
  ])('takes rows in the form of %s', async (_, form) => {
    const given = { rows: [...Array(10).keys()].map(form) };
    expect((await createSession({ dataset: given })).status).toBe(201);
    const missing = { rows: [{ messages: [{ role: 'user', content: 'a' }] }] };
    expect((await createEvaluation({ dataset: missing, candidate: prompt('Answer.') })).status).toBe(422);
  });

  test('warns of rows without an input', async () => {
    const given = [...rows.slice(0, 20), { label: 'a', size: 1 }];
    const { body } = await createSession({ dataset: { ...dataset, rows: given } });
    const state = await http.call('GET', `${jobKinds.session.path}/${body.session_id}`);
    expect(state.body.warnings).toEqual([expect.stringContaining('"text"')]);
  });

  test('keeps the seeds that the request names', async () => {
    const given = { train_seeds: '0-9', evaluation: { seeds: [11, 10], heldout_seeds: [39] } };
    const { body } = await createSession({ gepa: { ...gepa, ...given } });
    expect(body.split).toEqual({ train: [...Array(10).keys()], evaluation: [11, 10], heldout: [39] });
  });

  test('stores inline rows as the data set that the same file is', async () => {
    const id = await upload(rows);
    const { body } = await createSession();
    const state = await http.call('GET', `${jobKinds.session.path}/${body.session_id}`);
    expect(state.body.dataset.dataset_id).toBe(id);
  });

  test.each<[string, object, string, RegExp]>([
    ['no scorer', { scorer: undefined }, '/scorer', /required/],
    ['no prompt', { initial_prompt: undefined }, '/initial_prompt', /required/],
    ['a container too', { container_url: 'http://127.0.0.1:1' }, '/container_url', /not used with dataset/],
    ['live traffic', { rollouts: 'caller' }, '/rollouts', /must not be caller/],
    ['a scorer without a data set', { dataset: undefined }, '/scorer', /requires dataset/],
    ['neither rows nor id', { dataset: {} }, '/dataset', /exactly one/],
    ['a row without columns', { dataset: { ...dataset, rows: [...rows, {}] } }, '/dataset/rows/40', /one column/],
    ['a blank column', { dataset: { ...dataset, rows: [{ ' ': 1 }] } }, '/dataset/rows/0/ ', /blank/],
    ['too many columns', { dataset: { ...dataset, rows: [wide(0), wide(500)] } }, '/dataset/rows', /1001 columns/],
    ['an unknown data set', { dataset: { dataset_id: 'ds_1' } }, '/dataset/dataset_id', /this organization/],
    ['an unknown placeholder', { initial_prompt: prompt('Say {{txt}}') }, '/initial_prompt/messages', /`text`/],
    ['the right answers', { initial_prompt: prompt('{{text}} is {{label}}') }, '/initial_prompt/messages', /right/],
    ['no column at all', { initial_prompt: prompt('Say {{question}}') }, '/initial_prompt/messages', /no column/],
    ['no input column', { dataset: { rows, expected: 'label' } }, '/dataset/input', /"text", "label"/],
    ['no expected column', { dataset: { rows, input: 'text' } }, '/dataset/expected', /"text", "label"/],
    [
      'a row with an empty answer',
      { dataset: { ...dataset, rows: [{ text: 'x', label: '' }] } },
      '/dataset/expected',
      /row 0/,
    ],
    ['an answer without a number', { scorer: 'numeric' }, '/dataset/expected', /row 0 contains no number/],
    ['a seed beyond the rows', { gepa: { ...gepa, evaluation: { seeds: [40] } } }, '/gepa/evaluation/seeds', /0 to 39/],
    [
      'a cost budget and a judge without a price',
      {
        budget: { max_cost_usd: 1 },
        scorer: { type: 'rubric', criteria: 'Is it good?', model: 'nobody-knows', provider: 'openai' },
      },
      '/budget/max_cost_usd',
      /judge: .*nobody-knows/,
    ],
    ['half a split', { gepa: { ...gepa, train_seeds: [1] } }, '/gepa/evaluation/seeds', /leave out all three/],
  ])('is refused with %s', async (_, more, pointer, message) => {
    const { status, body } = await createSession(more);
    expect(status).toBe(422);
    const errors = body.errors as { pointer: string; message: string }[];
    expect(errors.find((error) => error.pointer === `${at}${pointer}`)?.message).toMatch(message);
  });

  test.each([
    '${{ secrets.X }}',
    '{{"a": 1}}',
    '{{#if x}} {{/if}}',
    'x^{{2}} {{text}}',
    'Vue: {{ message }} {{input}}',
  ])('takes literal braces: %s', async (text) => {
    const { status, body } = await createSession({ initial_prompt: prompt(text) });
    expect(status).toBe(201);
    const state = await http.call('GET', `${jobKinds.session.path}/${body.session_id}`);
    expect(state.body.warnings.filter((warning: string) => warning.includes('braces'))).toHaveLength(
      /\{\{ ?(2|message) ?\}\}/.test(text) ? 1 : 0,
    );
  });

  test.each<[string, object]>([
    ['no column for {{input}}', { dataset: { rows: [{ unstored: 1, label: 'x' }] } }],
    ['an answer that the scorer cannot use', { scorer: 'numeric', dataset: { ...dataset, rows: unstored } }],
    ['an unknown provider', { policy: { ...policy, provider: 'nobody' }, dataset: { ...dataset, rows: unstored } }],
    [
      'a seed beyond the rows',
      { gepa: { ...gepa, evaluation: { seeds: [9] } }, dataset: { ...dataset, rows: unstored } },
    ],
  ])('stores no rows if it is refused for %s', async (_, more) => {
    expect((await createSession(more)).status).toBe(422);
    const { data } = (await http.call('GET', '/api/v1/datasets?limit=100')).body;
    expect(data.filter(({ num_rows }: { num_rows: number }) => num_rows === unstored.length)).toEqual([]);
  });

  test('finds no data set of another organization', async () => {
    const id = await upload(rows);
    const { status } = await createSession({ dataset: { ...dataset, rows: undefined, dataset_id: id } }, http.otherKey);
    expect(status).toBe(422);
  });

  test('keeps its data set from being deleted', async () => {
    const id = await upload([{ input: 'x', expected: 'y' }]);
    const { status, body } = await createSession({ dataset: { dataset_id: id } });
    expect(status).toBe(201);
    const refused = await http.call('DELETE', `/api/v1/datasets/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'dataset_in_use']);
    expect(refused.body.used_by).toEqual([body.job_id]);
    expect((await http.call('GET', `/api/v1/datasets/${id}`)).body.jobs).toBe(1);
    // What lists leave out is not counted, and is needed all the same.
    const session = `/api/v1/online/sessions/${body.job_id}`;
    expect((await http.call('PATCH', session, { archived: true })).status).toBe(200);
    expect((await http.call('GET', `/api/v1/datasets/${id}`)).body.jobs).toBe(0);
    expect((await http.call('DELETE', `/api/v1/datasets/${id}`)).body.used_by).toEqual([body.job_id]);
  });
});

describe('a data set that is deleted during', () => {
  /** Sends a request while a deletion is not committed yet; resolves after both. */
  const during = async (id: string, send: () => Promise<Answer>): Promise<Answer> => {
    const { sent } = await http.db.org('default', async (tx) => {
      await tx.query('select id from datasets where id = $1 for update', [id]);
      const sent = send();
      await until('the request waits for the deletion', async () => {
        const waiting = await http.db.org('default', (other) =>
          other.query(
            `select 1 from pg_locks waiting join pg_locks held using (pid) join pg_database d on d.oid = held.database
              where not waiting.granted and d.datname = current_database()`,
          ),
        );
        return waiting.length > 0;
      });
      await tx.query('delete from datasets where id = $1', [id]);
      return { sent };
    });
    return sent;
  };

  test('a create that names it: the create is refused', async () => {
    const id = await upload([{ input: 'deleted', expected: 'y' }]);
    const { status, body } = await during(id, () => createSession({ dataset: { dataset_id: id } }));
    expect([status, body.errors?.[0].pointer]).toEqual([422, `${at}/dataset/dataset_id`]);
  });

  test('a create with its rows, or an upload of them: they are stored again', async () => {
    const again = [{ input: 'stored again', expected: 'y' }];
    const id = await upload(again);
    const created = await during(id, () => createSession({ dataset: { rows: again } }));
    expect(created.status).toBe(201);
    const state = await http.call('GET', `${jobKinds.session.path}/${created.body.session_id}`);
    expect(state.body.dataset.dataset_id).toBe(id);
    expect((await http.call('GET', `/api/v1/datasets/${id}/rows`)).body.data).toHaveLength(1);

    const other = [{ input: 'uploaded again', expected: 'y' }];
    const uploaded = await upload(other);
    const { status, body } = await during(uploaded, () => http.call('POST', '/api/v1/datasets', other));
    expect([status, body.dataset_id]).toEqual([201, uploaded]);
  });
});

describe('an evaluation on a data set', () => {
  test('runs all rows unless it names some', async () => {
    for (const [more, count] of [
      [{}, 40],
      [{ seeds: '3-5' }, 3],
    ] as const) {
      const { status, body } = await createEvaluation(more);
      expect([status, body.estimate.rollouts]).toEqual([201, count]);
      const state = await http.call('GET', `${jobKinds.evaluation.path}/${body.job_id}`);
      expect(state.body).toMatchObject({ num_seeds: count, container_url: null, dataset: { scorer: 'exact' } });
    }
  });

  test.each([true, false])('takes the texts of a session unless they are marked spans (%s)', async (leversMarked) => {
    const session = (await createSession()).body.session_id as string;
    await seedCandidates(http, session, [{ status: 'evaluated', reward: 1, generation: 0 }]);
    await http.db.org('default', (tx) =>
      tx.query(
        `update jobs set projection = projection || jsonb_build_object('leversMarked', $2::bool) where id = $1`,
        [session, leversMarked],
      ),
    );
    const candidate = { session_id: session, candidate_id: candidateId(session, 0) };
    const { status, body } = await createEvaluation({ candidate });
    expect([status, body.errors?.[0].pointer]).toEqual(
      leversMarked ? [422, '/candidate/session_id'] : [201, undefined],
    );
  });

  test.each<[string, object, string]>([
    ['no candidate', { candidate: undefined }, '/candidate'],
    ['a container key', { container_api_key: 'x' }, '/container_api_key'],
    ['an environment', { env_name: 'x' }, '/env_name'],
    ['a row beyond the last', { seeds: [40] }, '/seeds'],
  ])('is refused with %s', async (_, more, pointer) => {
    const { status, body } = await createEvaluation(more);
    expect([status, body.errors[0].pointer]).toEqual([422, pointer]);
  });
});

test('a prompt with many braces beside many columns names some of them', async () => {
  const columns = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`column${n}`, n]));
  const braces = (from: number) => Array.from({ length: 5_000 }, (_, n) => `{{colunm${from + n}}}`).join('');
  const others = Array.from({ length: 9 }, (_, n) => ({ role: 'user', content: braces(n * 5_000) }));
  const body = {
    app_id: 'a',
    policy: { model: 'm', provider: 'openai' },
    scorer: { type: 'regex', pattern: 'a' },
    dataset: { rows: [columns], input: 'column1' },
    candidate: { messages: [{ role: 'user', content: '{{column1}}' }, ...others] },
  };
  let answer: Answer | undefined;
  expect(
    await heldMs(async () => {
      answer = await http.call('POST', '/api/v1/offline/jobs?dry_run=true', body);
    }),
  ).toBeLessThan(maxHeldMs);
  expect([answer!.status, answer!.body.errors.length]).toEqual([422, 20]);
});
