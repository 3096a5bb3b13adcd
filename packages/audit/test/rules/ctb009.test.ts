import { CTB009 } from '../../src/rules/ctb009.ts'
import { checkRule } from '../check-rule.ts'

checkRule(CTB009, {
  bad: {
    printf: {
      'install.sh': '#!/bin/sh\nprintf "0 3 * * * /opt/a\\n" | crontab - # <<\n',
    },
    'the crontab of a user': {
      'setup.sh': '#!/bin/sh\necho "0 3 * * * /opt/a" | sudo crontab -u www-data - # <<\n',
    },
    'a variable': {
      'install.sh': '#!/bin/sh\nJOB="0 3 * * * /opt/a"\necho "$JOB" | crontab - # <<\n',
    },
  },
  good: {
    'a script that keeps the lines': {
      'install.sh': '#!/bin/sh\n(crontab -l; echo "0 3 * * * /opt/a") | sort -u | crontab -\n',
    },
    'a copy that is kept': {
      'install.sh': '#!/bin/sh\nold=$(crontab -l)\necho "$old" | crontab -\n',
    },
    'a container': {
      'docker-entrypoint.sh': '#!/bin/sh\necho "0 3 * * * /opt/a" | crontab -\n',
    },
    'a list': {
      'install.sh': '#!/bin/sh\necho "crontab"\n',
    },
    'a help text': {
      'install.sh': "#!/bin/sh\necho 'run: echo JOB | crontab -'\n",
    },
  },
})
