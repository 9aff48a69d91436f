import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer, type FakeContainer, type ReceivedRollout } from '../support/fake-container.js';
import { startFakeModel, type FakeModel } from '../support/fake-model.js';
import { startTestService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// A prompt of two components: each rule belongs to one of them, and the feedback says to which.

const rules = 3;
const parts = ['plan', 'answer'] as const;
const partOf = (seed: number) => parts[seed % parts.length]!;
const ruleOf = (seed: number) => `rule-${seed % (rules * parts.length)}.`;
const textsOf = (call: ReceivedRollout) =>
  new Map(call.body.policy.config.prompt_template?.sections.map(({ name, content }) => [name, content]));

let container: FakeContainer;
let model: FakeModel;
let service: TestService;
beforeAll(async () => {
  container = await startFakeContainer({
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
  model = await startFakeModel(({ body }) => {
    const shown = body.messages.map(({ content }) => content).join('\n');
    const part = /It is the part "(\w+)"/.exec(shown)?.[1];
    const current = /```\n([\s\S]*?)\n```/.exec(shown)?.[1] ?? '';
    const lessons = [...shown.matchAll(/the (\w+) lacks (rule-\d+\.)/g)];
    const own = lessons.find(([, name, rule]) => name === part && !current.includes(rule!));
    return { text: `\`\`\`\n${current}\n${own?.[2] ?? 'Be careful.'}\n\`\`\`` };
  });
  service = await startTestService({ RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await container.close();
  await model.close();
}, 60_000);

interface Session {
  status: string;
  best_reward: number;
  lever_versions: Record<string, number>;
}
interface Results {
  best_prompt: { messages: { role: string; name?: string; content: string }[] };
}

test('a session mends each component by what the feedback says of it', async () => {
  const base = '/api/v1/online/sessions';
  const { session_id: id } = await service.api.call<{ session_id: string }>('POST', base, {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: container.url,
      policy: { provider: 'fake', model: 'any' },
      gepa: {
        population_size: 3,
        generations: 12,
        evaluation: { seeds: Array.from({ length: 12 }, (_, seed) => seed) },
      },
    },
  });
  const session = await until(
    'the session has ended',
    async () => {
      const seen = await service.api.call<Session>('GET', `${base}/${id}`);
      return seen.status !== 'running' && seen;
    },
    60,
  );
  expect(session).toMatchObject({ status: 'completed', best_reward: 1 });
  const { best_prompt: best } = await service.api.call<Results>('GET', `${base}/${id}/results`);
  expect(best.messages.map(({ role, name }) => [role, name])).toEqual([
    ['system', 'plan'],
    ['user', 'answer'],
  ]);
  for (let seed = 0; seed < rules * parts.length; seed += 1) {
    const [own, other] = [0, 1].map((at) => best.messages[(seed + at) % parts.length]!.content);
    expect(own).toContain(ruleOf(seed));
    // Nobody writes into a component what the feedback says of another.
    expect(other).not.toContain(ruleOf(seed));
  }
  // The composite and one lever for each component.
  expect(Object.keys(session.lever_versions)).toHaveLength(3);
});
