import { has, operands, optionValues, type SimpleCommand } from '../shell/command.ts';
import { own } from '../shell/own.ts';
import { shown } from '../shell/value.ts';
import { names, type Rule } from './rule.ts';

const VALUED = [
  '-n',
  '--namespace',
  '--context',
  '--kubeconfig',
  '--profile',
  '--region',
  '--project',
  '-f',
  '--filename',
  '-g',
  '--resource-group',
  '-R',
  '--repo',
  '-a',
  '--app',
  '-o',
  '--output',
  '-chdir',
  '--scope',
  '-t',
  '--token',
  '-s',
  '--stack',
  '--cluster',
  '-l',
  '--zone',
];

const verbs = (command: SimpleCommand) => operands(command, VALUED).map((word) => word.text);

const DELETES =
  /^(?:delete|destroy|remove|rm|terminate|purge|deprovision|unregister|deregister|undeploy)(?:-|$)/;

/** The subcommands that destroy, by program. Each sees the words that are no options, joined by spaces. */
const DESTROYS: Readonly<Record<string, RegExp>> = {
  terraform: /^(?:destroy|workspace delete|state rm|taint\b|force-unlock)/,
  tofu: /^(?:destroy|workspace delete|state rm|taint\b)/,
  terragrunt: /^(?:destroy|run-all destroy)/,
  pulumi: /^(?:destroy|stack rm|state delete)/,
  cdk: /^destroy/,
  cdktf: /^destroy/,
  eksctl: /^(?:delete|drain)/,
  sam: /^delete/,
  serverless: /^remove/,
  sls: /^remove/,
  kubectl: /^(?:delete|drain)\b/,
  oc: /^(?:delete|drain)\b|^adm drain/,
  k: /^(?:delete|drain)\b/,
  kustomize: /^$/,
  helm: /^(?:uninstall|delete|del|un)\b/,
  helmfile: /^(?:destroy|delete)/,
  argocd: /^app delete/,
  flux: /^(?:delete|uninstall)/,
  gh: /^(?:repo|release|secret|issue|variable|gist|cache|run|label|ssh-key|gpg-key|codespace|project|workflow) (?:delete|rm|disable|archive)\b|^repo archive/,
  glab: /^\w+ delete/,
  vercel: /^(?:rm|remove|project rm|env rm|domains rm|alias rm|secrets rm)\b/,
  netlify: /^(?:sites:delete|env:unset)/,
  heroku: /^(?:apps:destroy|destroy|addons:destroy|pg:reset|config:unset|domains:remove|ps:kill)/,
  fly: /^(?:destroy|apps destroy|machines? destroy|volumes? (?:destroy|delete)|postgres destroy|secrets unset)/,
  flyctl: /^(?:destroy|apps destroy|machines? destroy|volumes? (?:destroy|delete))/,
  railway: /^(?:delete|down)/,
  doctl: /\bdelete\b/,
  linode: /\bdelete\b/,
  'linode-cli': /\b(?:delete|rm)\b/,
  hcloud: /\bdelete\b/,
  vultr: /\bdelete\b/,
  wrangler: /^(?:delete|\w+(?::\w+)? delete|\S+ \S+ delete|secret delete)/,
  firebase: /(?:projects:delete|firestore:delete|database:remove|functions:delete|hosting:disable)/,
  supabase: /^(?:projects delete|db reset|functions delete)/,
  gsutil: /^(?:rm|rb)\b/,
  s3cmd: /^(?:del|rm|rb|expire)\b/,
  mc: /^(?:rm|rb)\b/,
  nomad: /^(?:job stop|stop|system gc)|\bdelete\b/,
  consul: /\bdelete\b/,
  vault: /\b(?:delete|destroy|revoke|disable)\b/,
  etcdctl: /^del\b/,
  ibmcloud: /\b(?:delete|rm|-delete)\b/,
  oci: /\b(?:delete|terminate)\b/,
  doppler: /\bdelete\b/,
  rancher: /^(?:rm|delete)\b/,
  velero: /\bdelete\b/,
};

function isAws(command: SimpleCommand): boolean {
  if (command.args.some((word) => /^(?:--dry-?run|--dryrun)$/.test(word.text))) return false;
  const [service = '', verb = ''] = verbs(command);
  if (service === 's3')
    return verb === 'rb' || verb === 'rm' || (verb === 'sync' && has(command, '', 'delete'));
  return (
    DELETES.test(verb) ||
    (/^(?:schedule-key-deletion|disable-|release-address|revoke-|empty-)/.test(verb) &&
      verb !== 'disable-rollback')
  );
}

export const CLOUD_RULES: readonly Rule[] = [
  {
    key: 'cloud-destructive',
    verdict: 'dangerous',
    description: 'destroys resources in the cloud or a cluster',
    programs: Object.keys(DESTROYS),
    match: (command) => {
      if (command.args.some((word) => /^--dry-run(?:=(?!none)|$)/.test(word.text) || word.text === '--help'))
        return false;
      return own(DESTROYS, command.program)?.test(verbs(command).join(' ')) ?? false;
    },
    subject: (command) =>
      names(
        `${command.program} ${verbs(command).slice(0, 2).join(' ')}`,
        operands(command, VALUED).slice(2).map(shown),
      ),
    examples: {
      must: [
        'terraform destroy',
        'kubectl delete pod x',
        'helm uninstall x',
        'gh repo delete x',
        'vercel rm x',
        'heroku apps:destroy x',
        'kubectl -n prod drain node1',
        'pulumi destroy',
        'gh release delete v1',
      ],
      mustNot: [
        'terraform plan -destroy',
        'kubectl get pods',
        'helm list',
        'gh repo view',
        'kubectl delete pod x --dry-run=client',
      ],
    },
  },
  {
    key: 'cloud-destructive',
    verdict: 'dangerous',
    description: 'deletes through the API of a code host',
    programs: ['gh', 'glab'],
    match: (command) =>
      operands(command)[0]?.text === 'api' &&
      optionValues(command, '-X', '--method').some((word) => word.text.toUpperCase() === 'DELETE'),
    examples: {
      must: ['gh api -X DELETE repos/a/b', 'gh api repos/a/b --method=delete'],
      mustNot: ['gh api repos/a/b', 'gh api -X POST repos/a/b/issues'],
    },
  },
  {
    key: 'cloud-destructive',
    verdict: 'dangerous',
    description: 'applies changes to the cloud without asking, or scales something away',
    programs: ['terraform', 'tofu', 'terragrunt', 'kubectl', 'oc', 'k', 'pulumi'],
    match: (command) => {
      const [first = ''] = verbs(command);
      if (/^(?:terraform|tofu|terragrunt)$/.test(command.program))
        return (
          /^(?:apply|run-all)$/.test(first) &&
          command.args.some((word) =>
            /^--?(?:auto-approve|destroy)(?:=true)?$|^--terragrunt-non-interactive$/.test(word.text),
          )
        );
      if (command.program === 'pulumi') return first === 'up' && has(command, 'yf', 'yes', 'skip-preview');
      return (
        (first === 'replace' && has(command, '', 'force')) ||
        (first === 'scale' &&
          command.args.some(
            (word, index) =>
              /^--replicas=0$/.test(word.text) ||
              (word.text === '--replicas' && command.args[index + 1]?.text === '0'),
          )) ||
        (first === 'apply' && has(command, '', 'prune'))
      );
    },
    examples: {
      must: [
        'terraform apply -auto-approve',
        'kubectl replace --force -f x.yml',
        'kubectl scale deploy/x --replicas=0',
      ],
      mustNot: ['terraform apply', 'kubectl apply -f x.yml', 'kubectl scale deploy/x --replicas=3'],
    },
  },
  {
    key: 'cloud-destructive',
    verdict: 'dangerous',
    description: 'deletes resources of a cloud account',
    programs: ['aws', 'gcloud', 'az', 'azcopy', 'awslocal'],
    match: (command) => {
      if (command.program === 'aws' || command.program === 'awslocal') return isAws(command);
      const words = verbs(command);
      if (command.program === 'azcopy')
        return (
          words[0] === 'remove' ||
          (words[0] === 'sync' && command.args.some((word) => /^--delete-destination=true/.test(word.text)))
        );
      return (
        words.some((word) =>
          /^(?:delete|purge|destroy|deprovision|rm|delete-\w+|remove-iam-policy-binding)$/.test(word),
        ) && words[0] !== 'help'
      );
    },
    subject: (command) =>
      names(
        `${command.program} ${verbs(command).slice(0, 3).join(' ')}`,
        operands(command, VALUED).slice(3).map(shown),
      ),
    examples: {
      must: [
        'aws s3 rm s3://b/k',
        'aws ec2 terminate-instances --instance-ids i-1',
        'gcloud sql instances delete x',
        'az group delete -n x',
        'aws s3 sync . s3://b --delete',
      ],
      mustNot: [
        'aws s3 ls',
        'gcloud projects list',
        'az vm list',
        'aws s3 cp a s3://b',
        'aws ec2 describe-instances',
      ],
    },
  },
];
