/** Rows as turns of the prompt, where what a proposer writes does not help. */
import { afterEach, expect, test } from '@jest/globals';
import { built, deploy } from '../../support/deployments-over-http.js';
import { createSession, ended, sessions, type Session } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

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

test('gepa finds the rows that a prompt must show, and a deployment serves them', async () => {
  const id = await begin({});
  const seen = await ended<Session>(on.service, id);
  expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
  const { messages } = await on.service.api.call<{ messages: Turn[] }>('GET', `${sessions}/${id}/prompt`);
  const shown = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
  expect(new Set(shown).size).toBe(rules);
  const { id: deployment } = await built(
    on.service,
    await deploy(on.service, { name: 'turns', source: { session_id: id } }),
  );
  expect(deployment).toMatch(/^dep_/);
});

test('demonstrations: 0 leaves them out', async () => {
  const seen = await ended<Session>(on.service, await begin({ demonstrations: 0 }));
  expect(seen).toMatchObject({ status: 'completed', best_reward: 0 });
  const withTurns = on.world.policyCalls().filter(({ body }) => body.messages.some(({ role }) => role === 'assistant'));
  expect(withTurns).toEqual([]);
});
