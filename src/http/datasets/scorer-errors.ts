import type { ScorerSpec } from '../../contracts/scoring/scorer.js';
import type { HttpDeps } from '../deps.js';
import { pointerOf, type FieldError } from '../server/errors.js';

type Path = readonly PropertyKey[];
export interface ScorerChecks extends Pick<HttpDeps, 'checkContainerUrl' | 'checkProvider'> {
  checkJavascript(code: string): string | null;
}

/** The checks of an organization's scorers. */
export function scorerChecks(deps: HttpDeps, orgId: string): ScorerChecks {
  const { checkContainerUrl, checkProvider } = deps;
  return { checkContainerUrl, checkProvider, checkJavascript: (code) => deps.checkJavascript(code, orgId) };
}

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
