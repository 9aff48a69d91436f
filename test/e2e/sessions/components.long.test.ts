import { expect, test } from '@jest/globals';
import { answers, startFakeContainer, type ReceivedRollout } from '../../support/fakes/container.js';
import { startFakeModel } from '../../support/fakes/model.js';
import { createSession, ended, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { currentOf, partOf as requestedPart } from '../../support/worlds/asked.js';

// A prompt of two components: each rule belongs to one component, which the feedback names.

const rules = 3;
const parts = ['plan', 'answer'] as const;
const partOf = (seed: number) => parts[seed % parts.length]!;
const ruleOf = (seed: number) => `rule-${seed % (rules * parts.length)}.`;
const textsOf = (call: ReceivedRollout) =>
  new Map(call.body.policy.config.prompt_template?.sections.map(({ name, content }) => [name, content]));

async function startPartsWorld() {
  const container = await startFakeContainer({
    prompt: [
      { role: 'system', content: 'Plan first.', name: 'plan' },
      { role: 'user', content: 'Then answer.', name: 'answer' },
    ],
    behave: (call) => {
      const text = textsOf(call).get(partOf(call.seed)) ?? '';
      const isRight = text.includes(ruleOf(call.seed));
      return answers.reward(isRight ? 1 : 0, isRight ? 'fine' : `the ${partOf(call.seed)} lacks ${ruleOf(call.seed)}`);
    },
  });
  const model = await startFakeModel(({ body }) => {
    const shown = body.messages.map(({ content }) => content).join('\n');
    const current = currentOf(body.messages);
    const part = requestedPart(body.messages);
    const lessons = [...shown.matchAll(/the (\w+) lacks (rule-\d+\.)/g)];
    const own = lessons.find(([, name, rule]) => name === part && !current.includes(rule!));
    return { text: `\`\`\`\n${current}\n${own?.[2] ?? 'Be careful.'}\n\`\`\`` };
  });
  return {
    container,
    env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url },
    async close() {
      await container.close();
      await model.close();
    },
  };
}
const on = serviceOfFile(startPartsWorld);

test('a session repairs each component by its own feedback', async () => {
  const id = await createSession(on.service, {
    container_url: on.world.container.url,
    policy: { provider: 'fake', model: 'any' },
    gepa: { population_size: 3, generations: 12, evaluation: { seeds: range(0, 12) } },
  });
  const session = await ended<Session>(on.service, id);
  expect(session).toMatchObject({ status: 'completed', best_reward: 1 });
  const messages = (await resultsOf(on.service, id)).best_prompt!.messages;
  expect(messages.map(({ role, name }) => [role, name])).toEqual([
    ['system', 'plan'],
    ['user', 'answer'],
  ]);
  for (let seed = 0; seed < rules * parts.length; seed += 1) {
    const [own, other] = [0, 1].map((at) => messages[(seed + at) % parts.length]!.content);
    expect(own).toContain(ruleOf(seed));
    // No component contains a rule of another.
    expect(other).not.toContain(ruleOf(seed));
  }
  // The composite and one lever for each component.
  expect(Object.keys(session.lever_versions)).toHaveLength(3);
});
