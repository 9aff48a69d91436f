import { once } from 'node:events';
import { join } from 'node:path';
import { startIntents } from '../../../examples/intents/container.js';
import { createProviders } from '../../models/client/providers.js';
import { ConfigError, readConfig } from '../../service/config.js';
import { rolloutId } from '../../core/jobs/ids.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { Service } from '../../service/main.js';
import { openBrowser } from '../service/browser.js';
import type { CommandClient } from '../service/client.js';
import { withEmbedded } from '../service/embedded.js';
import { FailedJob } from '../service/errors.js';
import { decimal, dollars, note, say } from '../service/output.js';
import type { Model } from '../task/model-name.js';
import { confirmCost, estimateText, type CostOptions } from './cost.js';
import {
  evaluationBody,
  generations,
  maxRollouts,
  planDemo,
  populationSize,
  sessionBody,
  unseenSeeds,
  type DemoPlan,
} from './demo-plan.js';
import { coloured } from './diff.js';
import { followSession } from './progress.js';
import { promptDiff } from '../task/prompt-file.js';

export interface DemoOptions extends CostOptions {
  keep?: boolean;
  provider: string;
  model?: string;
}

/** Improves the sample container's prompt, then compares baseline and winner on unseen seeds. */
export async function demo(options: DemoOptions): Promise<void> {
  const { keep = false, provider, model = 'local', maxCost, dryRun = false, yes = false } = options;
  const startedAt = Date.now();
  const read = readConfig();
  // Own folder and ports: do not disturb a running service.
  const config = keep ? read : { ...read, dataDir: join(read.dataDir, 'demo'), port: 0, temporalPort: 0 };
  const fault = createProviders(config.env, { allowLocal: config.allowLocalProvider }).check(provider);
  if (fault) throw new ConfigError(`--provider ${provider}: ${fault}`);
  const plan = await planDemo({ provider, model }, maxCost);
  if (dryRun) return say(estimateText(plan.estimate));
  note(estimateText(plan.estimate));
  await confirmCost(plan.estimate, { yes });
  say(`Starting Postgres, Temporal and the service (data in ${config.dataDir}) …`);
  await withEmbedded(config, async (client, service) => {
    const container = await startIntents({ port: 0 });
    try {
      say(`API ${service.url}, Temporal UI ${service.temporalUi ?? 'off'}, sample container ${container.url}`);
      const sessionId = await runMainJob(client, container.url, { provider, model }, plan, startedAt);
      if (keep || process.stdout.isTTY) await showSession(client, service, sessionId);
      else say(`\n${nextSteps}`);
    } finally {
      await container.close();
    }
  });
}

const nextSteps = `Next: your rows, in a folder of their own:
  ratchet init && ratchet optimize
In a clone without the command on PATH, run "npm install -g ." first.`;

/** Opens the session in the dashboard, and stays up until Ctrl-C. */
async function showSession(client: CommandClient, service: Service, sessionId: string): Promise<void> {
  const url = service.loginUrlOf(`/${jobKinds.session.page}/${sessionId}`)!;
  say(`\nThe session in the dashboard (the link signs one browser in):\n  ${url}\n\n${nextSteps}`);
  say('\nThe dashboard stays up. Ctrl-C ends it.');
  client.isResting = true;
  if (process.stdout.isTTY) await openBrowser(url);
  await Promise.race([service.ended, once(process, 'SIGINT')]);
}

async function runMainJob(
  client: CommandClient,
  containerUrl: string,
  policy: Model,
  { sessionCost, evaluationCost }: DemoPlan,
  startedAt: number,
): Promise<string> {
  say(
    `\nGEPA session: ${populationSize} proposals in each of ${generations} generations, at most ${maxRollouts} answers.`,
  );
  const session = await client.createSession(sessionBody(containerUrl, policy, sessionCost));
  client.started.push(session.id);
  const state = await followSession(session);
  if (state.status !== 'completed')
    throw new FailedJob(`The session ended as ${state.status}: ${state.error ?? 'no reason given'}`);
  const [results, original] = await Promise.all([
    session.results(),
    session.prompt({ correlation_id: rolloutId(session.id, 0) }),
  ]);
  const baselineId = state.candidates.find((candidate) => candidate.is_baseline)?.candidate_id;

  say(`\nOffline evaluation of baseline and winner on ${unseenSeeds.length} tasks unseen by the session …`);
  const evaluate = async (candidateId: string | undefined) => {
    const candidate = { session_id: session.id, candidate_id: candidateId ?? null };
    const evaluation = await client.createEvaluation(
      evaluationBody(containerUrl, policy, { candidate, maxCost: evaluationCost }),
    );
    const job = await evaluation.wait();
    if (job.status !== 'completed')
      throw new FailedJob(`The evaluation ended as ${job.status}: ${job.error ?? 'no reason given'}`);
    return job.summary.mean_reward;
  };
  const [before, after] = await Promise.all([evaluate(baselineId), evaluate(state.best_candidate?.candidate_id)]);

  if (results.best_prompt)
    say(`\n${coloured(promptDiff(original, results.best_prompt, ['baseline', 'winner']) ?? '')}`);
  say(`Mean reward on unseen tasks: baseline ${decimal(before)}, winner ${decimal(after)}`);
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(0);
  say(
    `${state.progress.rollouts_completed} answers, cost ${dollars(state.usage.total_cost_usd)}, ${seconds} s in all.`,
  );
  return session.id;
}
