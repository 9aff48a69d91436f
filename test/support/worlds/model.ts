import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from '../fakes/model.js';

/** A fake model as the provider `fake`, which also replaces OpenAI. */
export interface ModelWorld {
  model: FakeModel;
  /** The service's settings for it. */
  env: Record<string, string>;
  /** Its default answer. */
  answer(request: ModelRequest): ModelReply;
  /** Restores the default answers and clears the requests. */
  reset(): void;
  close(): Promise<void>;
}

export async function startModelWorld(answer: ModelWorld['answer'] = () => ({})): Promise<ModelWorld> {
  const model = await startFakeModel(answer);
  return {
    model,
    env: {
      RATCHET_PROVIDERS: 'fake',
      FAKE_BASE_URL: model.url,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-test',
    },
    answer,
    reset() {
      model.requests.length = 0;
      model.reply(answer);
    },
    close: () => model.close(),
  };
}

/** The same, with a key, beside the provider `gone`, which refuses connections. */
export async function startModelBesideGone(): Promise<ModelWorld> {
  const world = await startModelWorld();
  const gone = { RATCHET_PROVIDERS: 'fake,gone', GONE_BASE_URL: 'http://127.0.0.1:9/v1' };
  return { ...world, env: { ...world.env, ...gone, FAKE_API_KEY: 'sk-secret' } };
}
