import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricFactory } from './metric-factory.ts';

/** Registers the gauges of the gateway process. Returns a function that stops the measurement. */
export function processGauges(make: MetricFactory, version: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  make.gauge('svc_build_info', 'Always 1. The label is the version of the gateway.', ['version'], (gauge) =>
    gauge.set({ version }, 1),
  );
  make.gauge('process_resident_memory_bytes', 'Resident memory of the gateway process.', [], (gauge) =>
    gauge.set(process.memoryUsage.rss()),
  );
  make.gauge('process_start_time_seconds', 'Start time of the gateway, in Unix seconds.', [], (gauge) =>
    gauge.set(startedAt),
  );
  const help = '99th percentile of the event loop delay since the last scrape.';
  make.gauge('svc_event_loop_delay_p99_seconds', help, [], (gauge) => {
    gauge.set(delay.percentile(99) / 1e9);
    delay.reset();
  });
  return () => void delay.disable();
}
