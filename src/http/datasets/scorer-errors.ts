import type { ScorerRequest } from '../../contracts/scoring/scorer.js';
import type { HttpDeps } from '../deps.js';
import { pointerOf, type FieldError } from '../server/errors.js';

type Path = readonly PropertyKey[];
type Checks = Pick<HttpDeps, 'checkContainerUrl' | 'checkJavascript' | 'checkProvider'>;

/** What a scorer's schema cannot check: its URL, its code, and the provider of its judge. */
export function scorerErrors(request: ScorerRequest, path: Path, checks: Checks): FieldError[] {
  const error = (field: string, message: string | null): FieldError[] =>
    message === null ? [] : [{ pointer: pointerOf([...path, field]), message }];
  switch (request.type) {
    case 'weighted':
      return request.parts.flatMap(({ scorer }, at) => scorerErrors(scorer, [...path, 'parts', at, 'scorer'], checks));
    case 'http':
      return error('url', checks.checkContainerUrl(request.url));
    case 'javascript':
      return error('code', checks.checkJavascript(request.code));
    case 'rubric':
      return request.provider === undefined ? [] : error('provider', checks.checkProvider(request.provider));
    default:
      return [];
  }
}
