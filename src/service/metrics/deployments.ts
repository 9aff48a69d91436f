import { Counter, Histogram, Summary, type Registry } from 'prom-client';
import { limitedPairs, other } from './labels.js';

/** A request of a deployment. Unknown tokens and costs are null. */
export interface MeasuredRequest {
  organization: string;
  /** The name that was served, and the version that answered. */
  deployment: string;
  version: number;
  outcome: 'ok' | 'error' | 'aborted';
  /** Of an error. */
  code: string | null;
  seconds: number;
  promptTokens: number | null;
  completionTokens: number | null;
  /** Of all its tries, as far as it is known. */
  costUsd: number;
}

/** A reward that was reported and counts. */
export interface MeasuredReward {
  organization: string;
  deployment: string;
  reward: number;
}

/** An answer that a judge was asked about. */
export interface MeasuredJudgement {
  organization: string;
  deployment: string;
  /** null: it could not be scored. */
  score: number | null;
}

export interface DeploymentMetrics {
  deploymentRequest(request: MeasuredRequest): void;
  deploymentReward(reward: MeasuredReward): void;
  deploymentJudged(judgement: MeasuredJudgement): void;
}

/** Users choose names and release versions: a bound on the series of each metric. */
const maxNames = 200;
const maxVersions = 500;
const maxCodes = 500;

/** Metrics of what deployments answer. */
export function deploymentMetrics(registry: Registry): DeploymentMetrics {
  const registers = [registry];
  const of = ['organization', 'deployment'];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `ratchet_deployment_${name}`, help, labelNames, registers });
  const requests = counter('requests_total', 'Requests of deployments.', [...of, 'version', 'outcome']);
  const errors = counter('errors_total', 'Requests of deployments that were answered with an error.', [...of, 'code']);
  const tokens = counter('tokens_total', 'Tokens of deployments, where they are known.', [...of, 'type']);
  const cost = counter('cost_usd_total', 'Cost of deployments in dollars, where it is known.', of);
  const time = new Histogram({
    name: 'ratchet_deployment_request_duration_seconds',
    help: 'Time to the end of an answer of a deployment.',
    labelNames: of,
    buckets: [0.05, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 300],
    registers,
  });
  const rewards = new Summary({
    name: 'ratchet_deployment_reward',
    help: 'Rewards that feedback reported and that count.',
    labelNames: of,
    percentiles: [],
    registers,
  });
  const scores = new Summary({
    name: 'ratchet_deployment_judge_score',
    help: 'Scores that the judges of deployments gave.',
    labelNames: of,
    percentiles: [],
    registers,
  });
  const unjudged = counter('judge_failures_total', 'Answers that the judges of deployments could not score.', of);
  const names = limitedPairs(maxNames);
  const versions = limitedPairs(maxVersions);
  const codes = limitedPairs(maxCodes);
  const seriesOf = (organization: string, deployment: string) =>
    names(organization, deployment) ? { organization, deployment } : { organization: other, deployment: other };
  return {
    deploymentRequest({ organization, deployment, version, outcome, code, seconds, ...used }) {
      const series = seriesOf(organization, deployment);
      const name = `${series.organization} ${series.deployment}`;
      requests.inc({ ...series, version: versions(name, String(version)) ? version : other, outcome });
      if (code !== null) errors.inc({ ...series, code: codes(name, code) ? code : other });
      if (outcome === 'ok') time.observe(series, seconds);
      if (used.promptTokens) tokens.inc({ ...series, type: 'input' }, used.promptTokens);
      if (used.completionTokens) tokens.inc({ ...series, type: 'output' }, used.completionTokens);
      if (used.costUsd > 0) cost.inc(series, used.costUsd);
    },
    deploymentReward: ({ organization, deployment, reward }) =>
      rewards.observe(seriesOf(organization, deployment), reward),
    deploymentJudged({ organization, deployment, score }) {
      const series = seriesOf(organization, deployment);
      if (score === null) unjudged.inc(series);
      else scores.observe(series, score);
    },
  };
}
