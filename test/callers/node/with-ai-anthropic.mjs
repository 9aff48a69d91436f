// The package ai with @ai-sdk/anthropic.
import { createAnthropic } from '@ai-sdk/anthropic';
import { Caller as Base } from './with-ai.mjs';

// It warns on standard output of models that it does not know.
globalThis.AI_SDK_LOG_WARNINGS = false;

export class Caller extends Base {
  constructor({ url, key, model }) {
    super({ url, key, model });
    this.provider = createAnthropic({ baseURL: url, apiKey: key });
  }
}
