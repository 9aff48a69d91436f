import type { z } from 'zod';
import type { evaluationResultsSchema } from '../../../src/kinds/evaluation/contract/evaluation.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { createEvaluation, pathOf } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';

const policy = { provider: 'local', model: 'local' };

/** A service for the evaluations of a test file. */
export function evaluationServiceOfFile() {
  const on = serviceOfFile();
  return {
    on,
    container: containersOfEachTest(),
    create: (url: string, seeds: number[], more: object = {}, at = on.service) =>
      createEvaluation(at, { container_url: url, seeds, policy, ...more }),
    resultsOf: (id: string) =>
      on.service.api.call<z.output<typeof evaluationResultsSchema>>('GET', `${pathOf(id)}/results`),
  };
}
