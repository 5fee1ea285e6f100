file { "${facts['here']}/aud": audit => all }
