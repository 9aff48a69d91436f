import type { ScorerSpec } from '../../contracts/scoring/scorer.js';
import type { HttpDeps } from '../deps.js';
import { pointerOf, type FieldError } from '../server/errors.js';

type Path = readonly PropertyKey[];
export type ScorerChecks = Pick<HttpDeps, 'checkContainerUrl' | 'checkJavascript' | 'checkProvider'>;

/** What a scorer's schema cannot check: URL, code, and a provider that is not the policy's. */
export function scorerErrors(
  scorer: ScorerSpec,
  policyProvider: string,
  path: Path,
  checks: ScorerChecks,
): FieldError[] {
  const error = (field: string, message: string | null): FieldError[] =>
    message === null ? [] : [{ pointer: pointerOf([...path, field]), message }];
  switch (scorer.mode) {
    case 'weighted':
      return scorer.parts.flatMap((part, at) =>
        scorerErrors(part.scorer, policyProvider, [...path, 'parts', at, 'scorer'], checks),
      );
    case 'http':
      return error('url', checks.checkContainerUrl(scorer.url));
    case 'javascript':
      return error('code', checks.checkJavascript(scorer.code));
    case 'rubric':
      return scorer.judge.provider === policyProvider
        ? []
        : error('provider', checks.checkProvider(scorer.judge.provider));
    default:
      return [];
  }
}
