/** A run tells what happened and what to do now: in its answers, by the local model. */
import { expect, test } from '@jest/globals';
import { createEvaluation, createSession, ended, resultsOf, type Evaluation } from '../../support/jobs-over-http.js';
import { newcomerMessages, newcomerPrompt, newcomerTask, newcomerTeams } from '../../support/newcomer.js';
import { serviceOfFile } from '../../support/service-of-file.js';

const on = serviceOfFile();

const search = (prompt?: string) => ({
  ...newcomerTask(),
  initial_prompt: { messages: newcomerMessages(prompt) },
  gepa: { population_size: 2, generations: 200 },
  budget: { max_rollouts: 200 },
});

test('a prompt that names no label: every answer is wrong, with rows and what the prompt lacks', async () => {
  const id = await createSession(on.service, search());
  await ended(on.service, id);
  const { diagnosis, proposals, best_reward: best } = await resultsOf(on.service, id);
  expect(best).toBe(0);
  expect(diagnosis).toMatchObject({ code: 'all_wrong', action: { kind: 'new_run' } });
  for (const team of newcomerTeams) expect(diagnosis!.action!.prompt_addition).toContain(team);
  expect(diagnosis!.facts.join(' ')).toContain('"local"');
  expect(diagnosis!.rows.map(({ cause }) => cause)).toEqual(Array(3).fill('label_not_in_prompt'));
  const { rows } = newcomerTask().dataset;
  for (const { row, expected, answered, trace_id: trace } of diagnosis!.rows) {
    expect(expected).toBe(rows[row]!.team);
    // The local model repeats what it cannot classify.
    expect(answered).toBe(rows[row]!.message);
    const path = `/api/v1/online/sessions/${id}/traces/${trace}`;
    expect(await on.service.api.call('GET', path)).toMatchObject({ reward: 0 });
  }
  const refused = proposals.refused.reduce((total, { count }) => total + count, 0);
  expect(refused).toBeGreaterThan(0);
  expect(proposals).toMatchObject({ accepted: 0, refused: [{ cause: 'duplicate' }] });

  // What the diagnosis advises ends in a better run.
  const advised = await createSession(on.service, search(`${newcomerPrompt}\n${diagnosis!.action!.prompt_addition}`));
  await ended(on.service, advised);
  const after = await resultsOf(on.service, advised);
  expect(after.best_reward).toBeGreaterThan(0);
  expect(after.diagnosis!.code).not.toBe('all_wrong');
}, 60_000);

test('a label on a line of its own is named', async () => {
  const { dataset, policy } = newcomerTask();
  const rows = dataset.rows.map((row) => ({ ...row, team: row.team.toUpperCase() }));
  const labels = ['Answer with a label.', 'Labels:', ...newcomerTeams.map((team) => team.toUpperCase())].join('\n');
  const id = await createEvaluation(on.service, {
    dataset: { ...dataset, rows },
    scorer: { type: 'regex', pattern: '^no team$' },
    policy,
    candidate: { messages: newcomerMessages(labels) },
    seeds: undefined,
    env_name: undefined,
  });
  const { diagnosis } = await ended<Evaluation>(on.service, id);
  expect(diagnosis!.code).toBe('all_wrong');
  expect(diagnosis!.rows.map(({ cause }) => cause)).not.toContain('label_not_in_prompt');
});

test('an evaluation tells the same of its answers', async () => {
  const id = await createEvaluation(on.service, {
    ...newcomerTask(),
    candidate: { messages: newcomerMessages() },
    seeds: undefined,
    env_name: undefined,
  });
  const { diagnosis } = await ended<Evaluation>(on.service, id);
  expect(diagnosis).toMatchObject({ code: 'all_wrong', action: { kind: 'new_run' } });
  expect(diagnosis!.rows.map(({ row, cause }) => [row, cause])).toEqual(
    [0, 1, 2].map((row) => [row, 'label_not_in_prompt']),
  );
});
