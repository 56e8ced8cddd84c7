import type { GatewayObserver } from '../gateway/gateway.ts';
import type { Metrics } from '../server/metrics.ts';

const turnOutcomes = { done: 'answered', parked: 'parked', interrupted: 'stopped' } as const;

interface Listeners {
  onChange(): void;
  onTurnEnded?: GatewayObserver['turnEnded'];
}

/** Tells the metrics what happens, and the status file that something did. */
export function observerFor(metrics: Metrics, { onChange, onTurnEnded }: Listeners): GatewayObserver {
  return {
    received: (platform) => metrics.messageReceived(platform),
    delivered: (row, outcome) => metrics.messageDelivered(row.platform, outcome),
    turnEnded(platform, outcome, ms) {
      metrics.turnEnded(platform, outcome === 'failed' ? 'failed' : turnOutcomes[outcome], ms);
      onTurnEnded?.(platform, outcome, ms);
    },
    approvalEnded(row) {
      const choice = row.decision?.choice;
      if (row.state === 'expired' || row.state === 'superseded') metrics.approvalEnded(row.state);
      else if (choice !== undefined && choice !== 'answer') metrics.approvalEnded(choice);
    },
    changed: onChange,
  };
}
