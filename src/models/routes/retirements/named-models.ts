/** The models that a request names. */
import type { ModelRole } from '../../../contracts/retirements.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import type { StoredSpec } from '../../../core/jobs/spec.js';
import type { ModelName } from '../../../core/retirements/lookup.js';
import { judgesOf } from '../../../scorers/index.js';
import { isJudged } from '../../../scorers/verifier.js';

export interface NamedModel extends ModelName {
  role: ModelRole;
}

/** Each once for each role; without those of the job that a deployment serves. */
export function namedModels(spec: StoredSpec): NamedModel[] {
  const named = [
    ...as('policy', policiesOf(spec)),
    ...as('proposer', proposersOf(spec)),
    ...as('judge', spec.kind === 'graph' ? (isJudged(spec.verifier) ? [spec.verifier.judge] : []) : judgesIn(spec)),
  ];
  return [...new Map(named.map((model) => [JSON.stringify(model), model])).values()];
}

function as(role: ModelRole, policies: readonly PolicySpec[]): NamedModel[] {
  return policies.map(({ provider, model }) => ({ provider, model, role }));
}

function policiesOf(spec: StoredSpec): PolicySpec[] {
  if (spec.kind === 'graph') return spec.policies;
  if (spec.kind !== 'deployment') return [spec.policy];
  return spec.source.kind === 'messages' ? [spec.source.policy] : [];
}

function proposersOf(spec: StoredSpec): PolicySpec[] {
  if (spec.kind === 'migration') return spec.session ? [spec.session.proposer] : [];
  if (spec.kind === 'checkup') return spec.improve ? [spec.improve.session.proposer] : [];
  return 'proposer' in spec ? [spec.proposer] : [];
}

function judgesIn(spec: Exclude<StoredSpec, { kind: 'graph' }>): PolicySpec[] {
  const rows = spec.kind === 'checkup' ? Object.values(spec.parts).map((part) => part?.rows) : [spec.rows];
  return rows.flatMap((each) => (each ? judgesOf(each.scorer) : []));
}
