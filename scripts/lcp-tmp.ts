import { Api } from '../test/harness/api.ts';
import { launchChromium } from '../test/harness/browser.ts';
import { ChangingGroups } from '../test/harness/changing-groups.ts';
import { Sender } from '../test/harness/sender.ts';
import { Installation } from '../test/harness/tocsin.ts';
import { until } from '../test/harness/until.ts';
const tocsin = new Installation();
const ready = await tocsin.start();
const api = await Api.signIn(ready);
await new ChangingGroups(new Sender(ready.ingest_endpoint, ready.integration_token!)).open(50);
await until('the groups', async () => (await api.get('/alert-group-counts')).all >= 50);
const [group] = (await api.get('/alert-groups?limit=1')).items;
const browser = await launchChromium();
const ctx = await browser.newContext({ viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true });
const [name = '', value = ''] = api.cookie.split('=');
await ctx.addCookies([{ name, value, url: ready.app_url }]);
await ctx.addInitScript(`window.L=[];window.T=[];window.S=[];
new PerformanceObserver(l=>{for(const e of l.getEntries())L.push([Math.round(e.startTime),e.size,e.element?.outerHTML.slice(0,90)])}).observe({type:'largest-contentful-paint',buffered:true});
new PerformanceObserver(l=>{for(const e of l.getEntries())T.push([Math.round(e.startTime),Math.round(e.duration)])}).observe({type:'longtask',buffered:true});
new PerformanceObserver(l=>{for(const e of l.getEntries())S.push([Math.round(e.startTime),e.value,e.sources.map(s=>s.node?.outerHTML?.slice(0,60))])}).observe({type:'layout-shift',buffered:true});`);
for (const where of ['/alert-groups', `/alert-groups/${group.id}`]) for (let i = 0; i < 3; i++) {
  const page = await ctx.newPage();
  const cdp = await ctx.newCDPSession(page);
  await cdp.send('Network.enable'); await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  if (i === 2) { await cdp.send('Profiler.enable'); await cdp.send('Profiler.setSamplingInterval', { interval: 200 }); await cdp.send('Profiler.start'); }
  await page.goto(ready.app_url + where);
  await page.waitForTimeout(4000);
  if (i === 2) { const { profile } = await cdp.send('Profiler.stop'); (await import('node:fs')).writeFileSync(`/tmp/prof-${where.length > 14 ? 'group' : 'list'}.cpuprofile`, JSON.stringify(profile)); }
  const T = await page.evaluate<number[][]>('T');
  console.log(where.slice(0, 14), 'TBT', T.reduce((s, [, d = 0]) => s + d - 50, 0), JSON.stringify(T));
  console.log('  LCP', JSON.stringify(await page.evaluate('L')));
  console.log('  CLS', JSON.stringify(await page.evaluate('S')));
  await page.close();
}
await browser.close();
await tocsin.remove();
