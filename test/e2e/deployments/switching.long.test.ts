import { beforeEach, describe, expect, test } from '@jest/globals';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { ask, built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { modelSays } from '../../support/fakes/container-answers.js';
import { answers } from '../../support/fakes/container.js';
import { createSession, deployments, ended, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { ask as askName } from '../../harness/clients/ask.js';
import { until } from '../../support/until.js';

const on = serviceOfFile(startRulesWorld);
beforeEach(() => on.world.reset());

const container = containersOfEachTest();

describe('a deployment', () => {
  test('of a lever that callers mark is judged by its text in the marks, in its own calls', async () => {
    const said = (system: string) => ({ system, user: 'Go.' });
    const marked = 'Before. <lever name="act">Act well.</lever> After.';
    const unmarked = 'Check it.';
    on.world.model.reply(({ body }) => ({ text: body.messages[0]!.content }));
    const rewarded = answers.askModel(
      () => said(marked),
      (text) => ({ reward: text.includes('better') ? 1 : 0 }),
    );
    const box = await container({ behave: () => rewarded });
    // Its baseline is the container's marked text, and good enough.
    const session = await createSession(on.service, {
      container_url: box.url,
      policy: on.world.job.policy,
      proposer: on.world.job.policy,
      gepa: { population_size: 2, generations: 1, evaluation: { seeds: [0, 1] } },
      target_reward: 0,
    });
    expect(await ended<Session>(on.service, session)).toMatchObject({ status: 'completed', best_reward: 0 });
    const baseline = (await resultsOf(on.service, session)).best_prompt!.messages;
    expect(baseline).toMatchObject([{ name: 'act', content: 'Act well.' }]);
    const messages = [{ ...baseline[0]!, content: 'Act better.' }];
    await on.service.db.org('default', (tx) =>
      addCandidate(
        tx,
        { orgId: 'default', jobId: session },
        { leverVersion: 1, generation: 1, parents: [0], messages },
      ),
    );

    // The unmarked text, which stays unchanged, is sent, too.
    box.behave(() => async (call, response) => {
      await modelSays(call, said(unmarked));
      await rewarded(call, response);
    });
    const asked = () => on.world.model.requests.map(({ body }) => body.messages[0]!.content);
    on.world.model.requests.length = 0;
    const inTurn = { max_concurrent: 1, preflight: false };
    const gate = { container_url: box.url, seeds: range(0, 4), min_improvement: 0.1, ...inTurn };
    const id = await deploy(on.service, {
      name: 'marked',
      source: { session_id: session, candidate_id: candidateId(session, 1) },
      gate,
    });
    const judged = await built(on.service, id);
    expect(judged).toMatchObject({ status: 'ready', gate: { candidate: { reward: 1 }, incumbent: { reward: 0 } } });
    const filled = [unmarked, 'Before. Act better. After.'];
    const asItWas = [unmarked, 'Before. Act well. After.'];
    // Both again, since they differ on all seeds.
    const once = [...Array<string[]>(4).fill(filled), ...Array<string[]>(4).fill(asItWas)].flat();
    expect(asked()).toEqual([...once, ...once]);

    on.world.model.requests.length = 0;
    for (const content of [unmarked, marked]) {
      const messages = [
        { role: 'system', content },
        { role: 'user', content: 'Go.' },
      ];
      expect((await ask(on.service, id, { messages })).status).toBe(200);
    }
    expect(asked()).toEqual(filled);
  }, 120_000);

  test("answers every request with the name's current deployment while the name moves on and back", async () => {
    on.world.model.reply(({ body }) => ({ text: `${body.messages[0]!.content} ${body.messages[1]!.content}` }));
    const replica = await on.service.another({ serve: true, work: false });
    const say = (n: number) => deploy(on.service, { name: 'busy', source: saying(`version ${n}`) });
    /** The deployment known to serve the name; null while it moves. */
    let known: { id: string } | null = null;
    let isOver = false;
    const answered: { by: string; snapshot: string; n: number; text: string; known: string | null }[] = [];
    const hammer = async (url: string, stream: boolean) => {
      while (!isOver) {
        const n = (sent += 1);
        const before = known;
        const asked = { messages: [{ role: 'user', content: `question ${n}.` }], stream };
        const { status, text, headers } = await askName(`${url}${deployments}/busy`, on.service.apiKey, asked);
        expect([status, text]).toEqual([200, expect.stringContaining('version')]);
        const by = headers!.get('x-ratchet-deployment-id')!;
        const snapshot = headers!.get('x-ratchet-snapshot-id')!;
        answered.push({ by, snapshot, n, text: text!, known: before === known ? (before?.id ?? null) : null });
      }
    };
    let sent = 0;
    const move = async (how: () => Promise<string>) => {
      known = null;
      const id = await how();
      known = { id };
      const from = answered.length;
      await until('it is asked some more', () => isOver || answered.length > from + 40);
      return id;
    };
    const publish = (n: number) => move(async () => (await built(on.service, await say(n))).id);

    const live = [(await built(on.service, await say(0))).id];
    const clients = range(0, 8).map((n) => hammer(n % 2 ? on.service.url : replica.url!, n % 4 < 2));
    const all = Promise.all(clients).finally(() => (isOver = true));
    all.catch(() => undefined);
    for (const n of range(1, 5)) live.push(await publish(n));
    for (const to of live.slice(0, -1).reverse()) {
      const now = live[live.indexOf(to) + 1]!;
      await move(async () => {
        await on.service.api.call('POST', `${deployments}/${now}/rollback`);
        return to;
      });
    }
    isOver = true;
    await all;

    const snapshots = await Promise.all(live.map(async (id) => (await readDeployment(on.service, id)).snapshot_id!));
    for (const { by, snapshot, n, text, known } of answered) {
      const version = live.indexOf(by);
      // The answer came from the named deployment, which was live whenever the live one was known.
      expect([text, snapshot]).toEqual([`version ${version} question ${n}.`, snapshots[version]]);
      if (known !== null) expect(by).toBe(known);
    }
    expect(answered).toHaveLength(sent);
    expect(new Set(answered.map(({ by }) => by))).toEqual(new Set(live));
    expect(answered.filter(({ known }) => known !== null).length).toBeGreaterThan(100);
    const counted = await Promise.all(
      live.map(async (id) =>
        on.service.api.call<{ requests: number; errors: number }>('GET', `${deployments}/${id}/stats`),
      ),
    );
    expect(counted.map(({ errors }) => errors)).toEqual(live.map(() => 0));
    expect(counted.reduce((sum, { requests }) => sum + requests, 0)).toBe(sent);
  }, 120_000);
});
