import { serviceProblems, type ScorerSpec } from '../../scorers/index.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { pointerOf, type FieldError } from '../../platform/http/server/errors.js';

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
  const problems = serviceProblems(scorer, {
    url: checks.checkContainerUrl,
    javascript: checks.checkJavascript,
    provider: (name) => (name === policyProvider ? null : checks.checkProvider(name)),
  });
  return problems.map(({ path: inside, message }) => ({ pointer: pointerOf([...path, ...inside]), message }));
}
