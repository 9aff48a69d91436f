import { answers, type Behaviour } from '../../support/fakes/container-answers.js';
import { gzipBomb } from './container.js';

/** A model fault. `whole`: its answer still counts as an answer. */
export interface ModelFault {
  name: string;
  weight: number;
  whole: boolean;
  /** null: the model cuts its answer. */
  behave: Behaviour | null;
}

const fault = (name: string, behave: Behaviour | null, weight = 2, whole = false): ModelFault => ({
  name,
  weight,
  whole,
  behave,
});

/** Silence of a hanging model before it breaks the connection, so that a round ends. */
const hangMs = 4_000;

const drip: Behaviour = async (call, response) => {
  void answers.drip()(call, response);
  await answers.after(hangMs, answers.reset())(call, response);
};

export const modelFaults: ModelFault[] = [
  fault('500', answers.status(500, '{"error":{"message":"it broke"}}')),
  fault('401', answers.status(401, '{"error":{"message":"bad key"}}'), 1),
  fault('429 Retry-After', answers.busySeconds(1), 3),
  fault('503', answers.status(503, 'later')),
  fault('redirect', answers.redirect('http://127.0.0.1:9/'), 1),
  fault('hang', answers.after(hangMs, answers.reset()), 1),
  fault('one byte a second', drip, 1),
  fault('half a JSON', answers.halfJson(), 3),
  fault('cut in the middle', null, 4),
  fault('reset before the head', answers.reset(), 3),
  fault('reset after the head', answers.cut(), 3),
  fault('1 GiB', answers.huge(1024 ** 3)),
  fault('gzip bomb', answers.raw(gzipBomb, 200, { 'content-encoding': 'gzip' })),
  fault('204', answers.noContent()),
  fault('not HTTP', answers.garbage()),
  fault('a list', answers.raw('[1]')),
  fault('null', answers.raw('null')),
  fault('NaN', answers.raw('{"choices": [], "usage": {"cost": NaN}}')),
  // JSON objects pass through: container and model agree on the form of a completion.
  fault('choices is a text', answers.raw('{"choices": "no", "usage": [1]}'), 2, true),
  fault('no choices', answers.raw('{"choices": [], "usage": {"prompt_tokens": "1", "cost": -1}}'), 2, true),
  fault('1e400', answers.raw('{"choices": [], "usage": {"prompt_tokens": 1e400, "cost": 1e400}}'), 2, true),
];

export const modelFault = (name: string): ModelFault | undefined => modelFaults.find((fault) => fault.name === name);
