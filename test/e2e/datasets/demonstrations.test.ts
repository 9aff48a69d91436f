/** Rows as turns of the prompt, where what a proposer writes does not help. */
import { afterEach, expect, test } from '@jest/globals';
import { built, deploy } from '../../support/deployments-over-http.js';
import { createSession, ended, sessions, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startRowsWorld, withIdleTurns } from '../../support/worlds/rows.js';

const rules = 4;
const on = serviceOfFile(() => startRowsWorld(rules));
afterEach(() => on.world.reset());

interface Turn {
  role: string;
  content: string;
}

/** The rule of a question by heart, if a turn has shown its answer. */
function answerByTurns(messages: readonly Turn[]): string {
  const [, rule] = /rule (\d+)/.exec(messages.at(-1)!.content) ?? [];
  const answer = `needs rule-${rule}.`;
  return messages.some(({ role, content }) => role === 'assistant' && content === answer) ? answer : 'No rule.';
}

function begin(gepa: object) {
  on.world.model.reply(({ n, body }) => ({
    text: body.model === 'policy' ? answerByTurns(body.messages) : `\`\`\`\nAnswer well, please (${n}).\n\`\`\``,
  }));
  return createSession(on.service, {
    ...on.world.job(40),
    gepa: { population_size: 2, generations: 4, ...gepa },
    budget: { max_rollouts: 200 },
  });
}

test('gepa finds the rows that a prompt must show', async () => {
  const id = await begin({});
  const seen = await ended<Session>(on.service, id);
  expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
  const { messages } = await on.service.api.call<{ messages: Turn[] }>('GET', `${sessions}/${id}/prompt`);
  const shown = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
  expect(new Set(shown).size).toBe(rules);
});

test('more than sixteen rows become turns where fewer do not help, and a deployment shows them all', async () => {
  const enough = 24;
  on.world.model.reply(({ n, body }) => {
    if (body.model !== 'policy') return { text: `\`\`\`\nAnswer well, please (${n}).\n\`\`\`` };
    const [, rule] = /rule (\d+)/.exec(body.messages.at(-1)!.content) ?? [];
    const turns = body.messages.filter(({ role }) => role === 'assistant').length;
    return { text: turns >= enough ? `needs rule-${rule}.` : 'No rule.' };
  });
  const seeds = { train_seeds: range(0, 40), evaluation: { seeds: range(40, 20) } };
  const id = await createSession(on.service, {
    ...on.world.job(60),
    gepa: { population_size: 2, generations: 4, ...seeds },
    budget: { max_rollouts: 200 },
  });
  expect(await ended<Session>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
  await built(on.service, await deploy(on.service, { name: 'many', source: { session_id: id } }));
  const before = on.world.policyCalls().length;
  await on.service.api.call('POST', '/v1/chat/completions', {
    model: 'many',
    messages: [{ role: 'user', content: 'Row 99: rule 3' }],
  });
  const [served] = on.world.policyCalls().slice(before);
  const answers = served!.body.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
  expect(answers.length).toBeGreaterThanOrEqual(enough);
  expect(served!.body.messages).toHaveLength(2 * answers.length + 2);
});

test('demonstrations: 0 leaves them out', async () => {
  const seen = await ended<Session>(on.service, await begin({ demonstrations: 0 }));
  expect(seen).toMatchObject({ status: 'completed', best_reward: 0 });
  const withTurns = on.world.policyCalls().filter(({ body }) => body.messages.some(({ role }) => role === 'assistant'));
  expect(withTurns).toEqual([]);
});

test('turns that were not shown to help are offered for removal', async () => {
  const id = await createSession(on.service, withIdleTurns(on.world));
  await ended<Session>(on.service, id);
  const { best_prompt, shorter_prompt: shorter } = await on.service.api.call<{
    best_prompt: { messages: Turn[] };
    shorter_prompt: { candidate_id: string; removed: { kind: string; seed: number }[]; tested_rows: number } | null;
  }>('GET', `${sessions}/${id}/results`);
  const questions = best_prompt.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(shorter!.removed.length).toBeGreaterThan(0);
  for (const { kind, seed } of shorter!.removed) {
    expect(kind).toBe('demonstration');
    expect(questions.some((question) => question.startsWith(`Row ${seed}:`))).toBe(true);
  }
  expect(shorter!.tested_rows).toBeGreaterThan(1);
  const { decision } = await on.service.api.call<{ decision: object }>(
    'GET',
    `${sessions}/${id}/candidates/${shorter!.candidate_id}`,
  );
  expect(decision).toMatchObject({ outcome: 'accepted', reason: 'shorter' });
});
