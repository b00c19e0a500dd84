package tidy_test

import (
	"testing"

	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/tidy"
)

func TestComposeComparesWithTheBrokerOfTheTests(t *testing.T) {
	t.Parallel()
	config := func(pairs string) string {
		return "package kafkaproc\nvar p = map[string]string{\n\"node.id\": n.id,\n" + pairs + "\n}\n"
	}
	const compose = "    environment:\n      KAFKA_NODE_ID: \"1\"\n      KAFKA_MIN_ISR: \"1\"\n"
	checkExamples(t, tidy.Compose, []example{
		{
			name: "equal but for the place",
			files: map[string]string{
				"docker-compose.yml":           compose,
				"internal/kafkaproc/config.go": config(`"min.isr": strconv.Itoa(minISR),`),
			},
		},
		{
			name: "unequal, missing on either side",
			files: map[string]string{
				"docker-compose.yml":           compose + "      KAFKA_EXTRA: \"x\"\n",
				"internal/kafkaproc/config.go": config(`"min.isr": "2", "linger.ms": "0",`),
			},
			want: []string{
				`docker-compose.yml: extra is "x" here and not set in the tests`,
				`docker-compose.yml: linger.ms is not set here and "0" in the tests`,
				`docker-compose.yml: min.isr is "1" here and "2" in the tests`,
			},
		},
		{
			name: "value that cannot be read",
			files: map[string]string{
				"docker-compose.yml":           compose,
				"internal/kafkaproc/config.go": config(`"min.isr": c.other(),`),
			},
			want: []string{
				`docker-compose.yml: min.isr is "1" here and "" in the tests`,
				"internal/kafkaproc/config.go:4: min.isr: write its value as a string literal, so that it can be compared with docker-compose.yml",
			},
		},
		{
			name:  "nothing to compare with",
			files: map[string]string{"docker-compose.yml": "services:\n"},
			want:  []string{"internal/kafkaproc/config.go: holds no broker settings to compare docker-compose.yml with"},
		},
	})
}

// composeService is the part of a service that users depend on.
type composeService struct {
	Image       string
	Ports       []string
	Environment map[string]string
	Healthcheck struct{ Test []string }
}

func TestComposeFileStartsTheTestedReleases(t *testing.T) {
	t.Parallel()
	var compose struct{ Services map[string]composeService }
	require.NoError(t, yaml.Unmarshal([]byte(loadModule(t).Files["docker-compose.yml"]), &compose))
	require.Len(t, compose.Services, 2)
	kafka, postgres := compose.Services["kafka"], compose.Services["postgres"]
	require.Regexp(t, `^apache/kafka:3\.9\.`, kafka.Image)
	require.Regexp(t, `^postgres:16`, postgres.Image)
	for _, s := range compose.Services {
		require.NotEmpty(t, s.Healthcheck.Test)
		for _, port := range s.Ports {
			require.Regexp(t, `^127\.0\.0\.1:`, port, "a port for this machine only")
		}
	}
}
