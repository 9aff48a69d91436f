/** The service cannot start. The message is one line with the remedy. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
  readonly exitCode: 1 | 2;

  constructor(message: string, options: { cause?: unknown; exitCode?: 1 | 2 } = {}) {
    super(message.replaceAll(/(?<!\s)\s*\n\s*/g, ' ').trim(), { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}
