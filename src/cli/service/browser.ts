import type { Logger } from 'pino';

/** Opens the dashboard; without a browser the printed link remains. */
export async function openBrowser(url: string, log?: Logger): Promise<void> {
  try {
    const { default: open } = await import('open');
    await open(url);
  } catch (err) {
    log?.debug({ err }, 'no browser was opened');
  }
}
