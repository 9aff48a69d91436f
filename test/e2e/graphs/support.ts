import { afterEach } from '@jest/globals';
import { createGraphJob, pathOf, readJob, type GraphJob } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startGraphWorld } from '../../support/worlds/graph.js';

export const allRules = 'There is rule-0, rule-1, rule-2.';

/** An llm step about the question; `inputs`: its further inputs. */
export const llm = (id: string, content: string, inputs: object = {}) => ({
  id,
  type: 'llm',
  inputs: { question: 'input.question', ...inputs },
  messages: [{ role: 'user', content: `{{question}} ${content}` }],
  output: { field: 'answer' },
});
export const graphOf = (steps: object[], output: string) => ({ inputs: ['question'], steps, output });

/** A service on a graph world for the tests of a file. */
export function graphServiceOfFile() {
  const on = serviceOfFile(() => startGraphWorld());
  afterEach(() => on.world.reset());
  return {
    on,
    create: (tasks: number, more: object = {}) => createGraphJob(on.service, on.world.job(tasks, more)),
    read: (id: string) => readJob<GraphJob>(on.service, id),
    /** The requests for a model. */
    calls: (model: string) => on.world.model.requests.filter(({ body }) => body.model === model),
    /** `graph.txt` of a job. */
    async textOf(id: string) {
      const headers = { authorization: `Bearer ${on.service.apiKey}` };
      const answer = await fetch(`${on.service.url}${pathOf(id)}/graph.txt`, { headers });
      return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
    },
  };
}
